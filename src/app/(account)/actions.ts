"use server";

import { redirect } from "next/navigation";
import { askAccounts } from "../gate/accounts.ts";

export async function signOut(): Promise<void> {
  await askAccounts("/sign-out", {});
  redirect("/sign-in?after=signing-out");
}
