"use server";

import { redirect } from "next/navigation";
import { askAccounts } from "../../gate/accounts.ts";
import { formText } from "../../gate/form-text.ts";

/** Signs in at once and shows round; where addresses are confirmed, a mail comes first. */
export async function signUp(form: FormData): Promise<void> {
  const made = await askAccounts("/sign-up/email", {
    name: formText(form, "name"),
    email: formText(form, "email"),
    password: formText(form, "password"),
    callbackURL: "/verify-email",
  });
  const { token } = made as { token: string | null };
  redirect(token === null ? "/sign-up/sent" : "/onboarding");
}
