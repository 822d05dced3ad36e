"use server";

import { redirect } from "next/navigation";
import type { Outcome } from "../../ui/outcome.ts";
import { setLocale, updateProfile } from "../(account)/settings/actions.ts";
import { formText } from "../gate/form-text.ts";
import { catchRefusals } from "../gate/outcome.ts";
import { sameSitePath } from "../gate/same-site-path.ts";
import { completeOnboarding } from "./actions.ts";

export async function submitName(_before: Outcome, form: FormData): Promise<Outcome> {
  return catchRefusals(form, async () => {
    await updateProfile(form);
    redirect("/onboarding?step=2");
  });
}

export async function submitPreferences(_before: Outcome, form: FormData): Promise<Outcome> {
  return catchRefusals(form, async () => {
    await setLocale(form);
    await updateProfile(form);
    redirect("/onboarding?step=3");
  });
}

export async function submitComplete(_before: Outcome, form: FormData): Promise<Outcome> {
  return catchRefusals(form, async () => {
    await completeOnboarding(form);
    redirect(sameSitePath(formText(form, "next"), "/dashboard"));
  });
}
