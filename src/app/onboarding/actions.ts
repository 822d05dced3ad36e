"use server";

import { revalidatePath } from "next/cache";
import { completeOnboarding as completeOnboardingOperation } from "../../operations/users/complete-onboarding.ts";
import { act } from "../gate/act.ts";

export async function completeOnboarding(form: FormData): Promise<void> {
  await act(completeOnboardingOperation, form, () => ({}));
  revalidatePath("/onboarding");
  revalidatePath("/dashboard");
}
