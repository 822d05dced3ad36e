"use server";

import { revalidatePath } from "next/cache";
import { redirect } from "next/navigation";
import { completeOnboarding as completeOnboardingOperation } from "../../operations/users/complete-onboarding.ts";
import { setLocale, updateProfile } from "../(account)/settings/actions.ts";
import { formText } from "../gate/form-text.ts";
import { runAction } from "../gate/run-action.ts";
import { sameSitePath } from "../gate/same-site-path.ts";

/** Field: `name`. On to the next step. */
export async function saveName(form: FormData): Promise<never> {
  await updateProfile(form);
  redirect("/onboarding?step=2");
}

/** Fields: `locale`, `theme` and `emailNotifications`. On to the next step. */
export async function savePreferences(form: FormData): Promise<never> {
  await setLocale(form);
  await updateProfile(form);
  redirect("/onboarding?step=3");
}

/** Field: `next`, where to go; the dashboard by default. */
export async function completeOnboarding(form: FormData): Promise<never> {
  await runAction(completeOnboardingOperation, form, () => ({}));
  revalidatePath("/onboarding");
  revalidatePath("/dashboard");
  redirect(sameSitePath(formText(form, "next"), "/dashboard"));
}
