"use server";

import { revalidatePath } from "next/cache";
import { redirect } from "next/navigation";
import { dismissSubscription as dismissSubscriptionOperation } from "../../../../operations/subscriptions/dismiss-subscription.ts";
import { reconcileSubscription as reconcileSubscriptionOperation } from "../../../../operations/subscriptions/reconcile-subscription.ts";
import type { StatusMessageData } from "../../../../ui/status-message.tsx";
import { formText } from "../../../gate/form-text.ts";
import { runAction } from "../../../gate/run-action.ts";
import { describeReconciliation } from "./describe-reconciliation.ts";

/** Field: the subscription's `id`. */
export async function reconcileSubscription(form: FormData): Promise<StatusMessageData> {
  const subscription = await runAction(reconcileSubscriptionOperation, form, () => ({
    id: formText(form, "id"),
  }));
  revalidatePath("/admin/subscriptions");
  return describeReconciliation(subscription);
}

/** Fields: the subscription's `id`, and the `reason` for the record. */
export async function dismissSubscription(form: FormData): Promise<never> {
  await runAction(dismissSubscriptionOperation, form, () => ({
    id: formText(form, "id"),
    reason: formText(form, "reason"),
  }));
  revalidatePath("/admin/subscriptions");
  redirect("/admin/subscriptions?done=dismissed");
}
