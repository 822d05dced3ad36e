"use server";

import { redirect } from "next/navigation";
import { callAccounts } from "../../gate/accounts.ts";
import { formText } from "../../gate/form-text.ts";
import { sameSitePath } from "../../gate/same-site-path.ts";

/** Fields: `email`, `password`, `rememberMe`, and `next`, where to go; without it to the onboarding. */
export async function signIn(form: FormData): Promise<never> {
  const { twoFactorRedirect } = await callAccounts("/sign-in/email", {
    email: formText(form, "email"),
    password: formText(form, "password"),
    rememberMe: formText(form, "rememberMe") === "on",
  });
  const next = sameSitePath(formText(form, "next"), "");
  if (twoFactorRedirect === true) {
    redirect(`/sign-in/two-factor${next && `?${new URLSearchParams({ next })}`}`);
  }
  redirect(next || "/onboarding");
}

/** Fields: `code` of the authenticator app, `trustDevice`, and `next`. */
export async function signInWithCode(form: FormData): Promise<never> {
  return secondStep("/two-factor/verify-totp", form);
}

/** Fields: a backup `code`, `trustDevice`, and `next`. */
export async function signInWithBackupCode(form: FormData): Promise<never> {
  return secondStep("/two-factor/verify-backup-code", form);
}

async function secondStep(path: string, form: FormData): Promise<never> {
  await callAccounts(path, {
    code: formText(form, "code"),
    trustDevice: formText(form, "trustDevice") === "on",
  });
  redirect(sameSitePath(formText(form, "next"), "/onboarding"));
}
