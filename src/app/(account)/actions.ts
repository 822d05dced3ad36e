"use server";

import { redirect } from "next/navigation";
import { callAccounts } from "../gate/accounts.ts";

export async function signOut(): Promise<void> {
  await callAccounts("/sign-out", {});
  redirect("/sign-in?after=signing-out");
}
