"use server";

import { revalidatePath } from "next/cache";
import type { z } from "zod";
import { reconcileSubscription as reconcileSubscriptionOperation } from "../../../../operations/subscriptions/reconcile-subscription.ts";
import { act } from "../../../gate/act.ts";
import { formText } from "../../../gate/form-text.ts";

type Subscription = z.input<typeof reconcileSubscriptionOperation.output>;

/** Of the form: the subscription's `id`. */
export async function reconcileSubscription(form: FormData): Promise<Subscription> {
  const subscription = await act(reconcileSubscriptionOperation, form, () => ({ id: formText(form, "id") }));
  revalidatePath("/admin/subscriptions");
  return subscription;
}
