"use server";

import { redirect } from "next/navigation";
import { callAccounts } from "../../gate/accounts.ts";
import { formText } from "../../gate/form-text.ts";

/** Uses the token from the mail, and ends all sessions of the account. */
export async function resetPassword(form: FormData): Promise<void> {
  await callAccounts("/reset-password", {
    token: formText(form, "token"),
    newPassword: formText(form, "newPassword"),
  });
  redirect("/sign-in?after=new-password");
}
