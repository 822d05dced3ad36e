"use server";

import { redirect } from "next/navigation";
import { callAccounts } from "../../gate/accounts.ts";
import { formText } from "../../gate/form-text.ts";

/** Field: the `token` of a mail. The change is made once both addresses have confirmed it. */
export async function confirmEmailChange(form: FormData): Promise<never> {
  const { changed } = await callAccounts("/confirm-email-change", { token: formText(form, "token") });
  redirect(`/confirm-email-change?done=${changed === true ? "changed" : "pending"}`);
}
