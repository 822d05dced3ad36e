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
    callbackURL: `/verify-email?${new URLSearchParams({ done: "", ...(next && { next }) })}`,
  });
  const { token } = created as { token: string | null };
  redirect(token === null ? `/sign-up/sent${query}` : next || "/onboarding");
}
