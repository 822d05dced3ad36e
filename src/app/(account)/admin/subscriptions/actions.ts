"use server";

import { revalidatePath } from "next/cache";
import { reconcileSubscription as reconcileSubscriptionOperation } from "../../../../operations/subscriptions/reconcile-subscription.ts";
import { act } from "../../../gate/act.ts";
import { formText } from "../../../gate/form-text.ts";

/** Of the form: the subscription's `id`. */
export async function reconcileSubscription(form: FormData): Promise<void> {
  await act(reconcileSubscriptionOperation, () => ({ id: formText(form, "id") }));
  revalidatePath("/admin/subscriptions");
}
