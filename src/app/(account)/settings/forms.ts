"use server";

import type { Outcome } from "../../../ui/outcome.ts";
import { catchRefusals } from "../../gate/outcome.ts";
import { changePassword, deleteAccount, setLocale, updateProfile } from "./actions.ts";

export async function submitProfile(_before: Outcome, form: FormData): Promise<Outcome> {
  return catchRefusals(form, () => updateProfile(form));
}

export async function submitLocale(_before: Outcome, form: FormData): Promise<Outcome> {
  return catchRefusals(form, () => setLocale(form));
}

export async function submitPassword(_before: Outcome, form: FormData): Promise<Outcome> {
  return catchRefusals(form, () => changePassword(form));
}

export async function submitDeleteAccount(_before: Outcome, form: FormData): Promise<Outcome> {
  return catchRefusals(form, () => deleteAccount(form));
}
