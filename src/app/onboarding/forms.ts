"use server";

import { redirect } from "next/navigation";
import type { Outcome } from "../../ui/outcome.ts";
import { setLocale, updateProfile } from "../(account)/settings/actions.ts";
import { formText } from "../gate/form-text.ts";
import { outcomeOf } from "../gate/outcome.ts";
import { sameSitePath } from "../gate/same-site-path.ts";
import { completeOnboarding } from "./actions.ts";

export async function saveName(_before: Outcome, form: FormData): Promise<Outcome> {
  return outcomeOf(form, async () => {
    await updateProfile(form);
    redirect("/onboarding?step=2");
  });
}

export async function saveLooks(_before: Outcome, form: FormData): Promise<Outcome> {
  return outcomeOf(form, async () => {
    await setLocale(form);
    await updateProfile(form);
    redirect("/onboarding?step=3");
  });
}

export async function finish(_before: Outcome, form: FormData): Promise<Outcome> {
  return outcomeOf(form, async () => {
    await completeOnboarding(form);
    redirect(sameSitePath(formText(form, "next"), "/dashboard"));
  });
}
