"use server";

import { redirect } from "next/navigation";
import { callAccounts } from "../../gate/accounts.ts";
import { formText } from "../../gate/form-text.ts";
import { sameSitePath } from "../../gate/same-site-path.ts";

/** On to `next`; without it to the onboarding, which sends on who has been through it. */
export async function signIn(form: FormData): Promise<void> {
  await callAccounts("/sign-in/email", {
    email: formText(form, "email"),
    password: formText(form, "password"),
    rememberMe: formText(form, "rememberMe") === "on",
  });
  redirect(sameSitePath(formText(form, "next"), "/onboarding"));
}
