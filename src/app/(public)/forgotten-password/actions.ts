"use server";

import { redirect } from "next/navigation";
import { callAccounts } from "../../gate/accounts.ts";
import { formText } from "../../gate/form-text.ts";

/** The response is the same whether or not the account exists. */
export async function requestPasswordReset(form: FormData): Promise<void> {
  await callAccounts("/request-password-reset", { email: formText(form, "email") });
  redirect("/forgotten-password?sent");
}
