"use server";

import type { Outcome } from "../../../ui/outcome.ts";
import { outcomeOf } from "../../gate/outcome.ts";
import { changePassword, deleteAccount, setLocale, updateProfile } from "./actions.ts";

export async function saveProfile(_before: Outcome, form: FormData): Promise<Outcome> {
  return outcomeOf(form, () => updateProfile(form));
}

export async function saveLanguage(_before: Outcome, form: FormData): Promise<Outcome> {
  return outcomeOf(form, () => setLocale(form));
}

export async function savePassword(_before: Outcome, form: FormData): Promise<Outcome> {
  return outcomeOf(form, () => changePassword(form));
}

export async function endAccount(_before: Outcome, form: FormData): Promise<Outcome> {
  return outcomeOf(form, () => deleteAccount(form));
}
