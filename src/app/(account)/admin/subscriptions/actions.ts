"use server";

import { revalidatePath } from "next/cache";
import type { z } from "zod";
import { reconcileSubscription as reconcileSubscriptionOperation } from "../../../../operations/subscriptions/reconcile-subscription.ts";
import { formText } from "../../../gate/form-text.ts";
import { runAction } from "../../../gate/run-action.ts";

type Subscription = z.input<typeof reconcileSubscriptionOperation.output>;

/** Of the form: the subscription's `id`. */
export async function reconcileSubscription(form: FormData): Promise<Subscription> {
  const subscription = await runAction(reconcileSubscriptionOperation, form, () => ({
    id: formText(form, "id"),
  }));
  revalidatePath("/admin/subscriptions");
  return subscription;
}
