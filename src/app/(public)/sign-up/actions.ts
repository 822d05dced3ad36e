"use server";

import { redirect } from "next/navigation";
import { callAccounts } from "../../gate/accounts.ts";
import { formText } from "../../gate/form-text.ts";
import { sameSitePath } from "../../gate/same-site-path.ts";

/**
 * Signs in at once; where addresses are confirmed, only after the link of a mail. Then on to `next`, or the
 * onboarding.
 */
export async function signUp(form: FormData): Promise<void> {
  const next = sameSitePath(formText(form, "next"), "");
  const query = next && `?${new URLSearchParams({ next })}`;
  const created = await callAccounts("/sign-up/email", {
    name: formText(form, "name"),
    email: formText(form, "email"),
    password: formText(form, "password"),
    callbackURL: confirmationPage(next),
  });
  const { token } = created as { token: string | null };
  redirect(token === null ? `/sign-up/sent${query}` : next || "/onboarding");
}

/** Longer ones are refused. */
const MAX_CALLBACK_LENGTH = 2_000;

/** Where the link of the mail leads; without `next` if that is too long: nobody could sign up from there. */
function confirmationPage(next: string): string {
  const page = "/verify-email?done=";
  const pageWithNext = `${page}&${new URLSearchParams({ next })}`;
  return next && pageWithNext.length <= MAX_CALLBACK_LENGTH ? pageWithNext : page;
}
