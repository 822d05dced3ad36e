"use server";

import { redirect } from "next/navigation";
import { Refusal } from "../../../domain/refusals/refusal.ts";
import { callAccounts } from "../../gate/accounts.ts";
import { formText } from "../../gate/form-text.ts";
import { sameSitePath } from "../../gate/same-site-path.ts";

const DONE = "/verify-email?done";

/** Fields: the `token` of a mail, and `callbackURL`, where to go then. */
export async function confirmEmail(form: FormData): Promise<never> {
  await callAccounts("/verify-email", { token: formText(form, "token") }, "GET").catch((error) => {
    const reason = error instanceof Refusal ? error.reason : null;
    // That page says where to get a new link.
    if (reason === "link_expired") redirect("/verify-email?error");
    // Addresses are no longer confirmed here: signing in takes no more than the password.
    if (reason === "not_found") redirect("/sign-in");
    throw error;
  });
  const then = formText(form, "callbackURL") ?? "";
  // Mail programs cut links: a part of the default counts as the default.
  redirect(DONE.startsWith(then) ? DONE : sameSitePath(then, DONE));
}
