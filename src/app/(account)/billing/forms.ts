"use server";

import { revalidatePath } from "next/cache";
import type { Outcome } from "../../../ui/outcome.ts";
import { catchRefusals } from "../../gate/outcome.ts";
import { createCheckout, openCustomerPortal } from "./actions.ts";

export async function submitCheckout(_before: Outcome, form: FormData): Promise<Outcome> {
  const outcome = await catchRefusals(form, () => createCheckout(form));
  // The page that it was sent from does not know of the subscription yet.
  if (outcome?.done === false && outcome.code === "conflict") revalidatePath("/billing");
  return outcome;
}

export async function submitOpenPortal(_before: Outcome, form: FormData): Promise<Outcome> {
  return catchRefusals(form, () => openCustomerPortal(form));
}
