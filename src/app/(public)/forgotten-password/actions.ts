"use server";

import { redirect } from "next/navigation";
import { callAccounts } from "../../gate/accounts.ts";
import { formText } from "../../gate/form-text.ts";

/** The same answer whether there is such an account or not. */
export async function requestPasswordReset(form: FormData): Promise<void> {
  await callAccounts("/request-password-reset", {
    email: formText(form, "email"),
    redirectTo: "/reset-password",
  });
  redirect("/forgotten-password?sent");
}
