"use server";

import { revalidatePath } from "next/cache";
import { getTranslations } from "next-intl/server";
import type { Outcome } from "../../../ui/outcome.ts";
import { outcomeOf } from "../../gate/outcome.ts";
import { worded } from "../../gate/worded.ts";
import { createCheckout, openCustomerPortal } from "./actions.ts";

export async function choosePlan(_before: Outcome, form: FormData): Promise<Outcome> {
  const outcome = await outcomeOf(form, () => createCheckout(form));
  // The page that it was sent from does not know of the subscription yet.
  if (outcome?.done === false && outcome.code === "conflict") revalidatePath("/billing");
  const words = await getTranslations("billing.refusals");
  return worded(outcome, {
    conflict: words("subscribed"),
    unavailable: words("unavailable"),
    planId: words("planId"),
    seats: words("seats"),
  });
}

export async function goToPortal(_before: Outcome, form: FormData): Promise<Outcome> {
  const outcome = await outcomeOf(form, () => openCustomerPortal());
  const words = await getTranslations("billing.refusals");
  return worded(outcome, { conflict: words("noCustomer"), unavailable: words("unavailable") });
}
