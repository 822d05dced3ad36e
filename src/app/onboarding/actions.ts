"use server";

import { revalidatePath } from "next/cache";
import { completeOnboarding as completeOnboardingOperation } from "../../operations/users/complete-onboarding.ts";
import { runAction } from "../gate/run-action.ts";

export async function completeOnboarding(form: FormData): Promise<void> {
  await runAction(completeOnboardingOperation, form, () => ({}));
  revalidatePath("/onboarding");
  revalidatePath("/dashboard");
}
