"use server";

import { revalidatePath } from "next/cache";
import { redirect } from "next/navigation";
import { createCheckout as createCheckoutOperation } from "../../../operations/billing/create-checkout.ts";
import { openPortal } from "../../../operations/billing/open-portal.ts";
import { runAction } from "../../gate/run-action.ts";

/** `planId` and `seats`, and `provider` if it is not to be the operator's choice. On to the provider's page. */
export async function createCheckout(form: FormData): Promise<never> {
  const { url } = await runAction(createCheckoutOperation, form, () => {
    const seats = form.get("seats");
    const provider = form.get("provider");
    return {
      planId: form.get("planId"),
      ...(seats === null || seats === "" ? {} : { seats: Number(seats) }),
      ...(provider === null ? {} : { provider }),
    };
  });
  revalidatePath("/billing");
  redirect(url);
}

/** `subscriptionId`, where there are several. On to the provider's page. */
export async function openCustomerPortal(form: FormData): Promise<never> {
  const { url } = await runAction(openPortal, form, () => {
    const subscriptionId = form.get("subscriptionId");
    return subscriptionId === null ? {} : { subscriptionId };
  });
  revalidatePath("/billing");
  redirect(url);
}
