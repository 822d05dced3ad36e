"use server";

import { revalidatePath } from "next/cache";
import { redirect } from "next/navigation";
import { changeSubscription as changeSubscriptionOperation } from "../../../operations/billing/change-subscription.ts";
import { createCheckout as createCheckoutOperation } from "../../../operations/billing/create-checkout.ts";
import { openPortal } from "../../../operations/billing/open-portal.ts";
import { formText } from "../../gate/form-text.ts";
import { runAction } from "../../gate/run-action.ts";
import type { ChangeStep } from "./change-steps.tsx";
import { changedText, previewLines, unchangedText } from "./change-summary.ts";
import { expectedFields, expectedIn } from "./expected-fields.ts";

/**
 * Fields: `planId`, `seats`, and optionally `interval`, `currency`, `provider`. Redirects to the provider's
 * checkout page.
 */
export async function createCheckout(form: FormData): Promise<never> {
  const { url } = await runAction(createCheckoutOperation, form, () => {
    const seats = form.get("seats");
    const optional = (["interval", "currency", "provider"] as const).filter((name) => form.has(name));
    return {
      planId: form.get("planId"),
      ...(seats === null || seats === "" ? {} : { seats: Number(seats) }),
      ...Object.fromEntries(optional.map((name) => [name, form.get(name)])),
    };
  });
  revalidatePath("/billing");
  redirect(url);
}

/**
 * Fields: `id`, `when`, and `planId`, `seats` or `interval`; `form` is returned. With `preview` nothing changes: it
 * returns what to confirm, or that there is nothing to change. Everything as it is, at the end of the period,
 * withdraws what was to change then.
 */
export async function changeSubscription(form: FormData): Promise<ChangeStep> {
  const changed = await runAction(changeSubscriptionOperation, form, () => {
    const [planId, seats, interval] = [form.get("planId"), form.get("seats"), form.get("interval")];
    return {
      id: form.get("id"),
      when: form.get("when") ?? "now",
      ...(planId === null ? {} : { planId }),
      ...(seats === null || seats === "" ? {} : { seats: Number(seats) }),
      ...(interval === null ? {} : { interval }),
      ...(form.get("preview") === "true" ? { preview: true } : {}),
      ...(form.has("expectedPlanId") ? { expected: expectedIn(form) } : {}),
    };
  });
  const isAtOnce = formText(form, "when") !== "period_end";
  const sentBy = { form: formText(form, "form") };
  const order = {
    planId: formText(form, "planId"),
    seats: formText(form, "seats"),
    interval: formText(form, "interval"),
  };
  if (formText(form, "preview") === "true") {
    const unchanged = await unchangedText(changed, order);
    if (unchanged !== null) return { ...sentBy, step: "unchanged", text: unchanged };
    const lines = await previewLines(changed, { ...order, isAtOnce });
    const fields = (["id", "planId", "seats", "interval", "when"] as const).flatMap((name) => {
      const value = formText(form, name);
      return value === null ? [] : [[name, value]];
    });
    return {
      ...sentBy,
      step: "preview",
      lines,
      fields: { ...Object.fromEntries(fields), ...expectedFields(changed.subscription) },
    };
  }
  revalidatePath("/billing");
  return { ...sentBy, step: "changed", text: await changedText(changed, { ...order, isAtOnce }) };
}

/** Field: `subscriptionId`, if there are several. Redirects to the provider's portal. */
export async function openCustomerPortal(form: FormData): Promise<never> {
  const { url } = await runAction(openPortal, form, () => {
    const subscriptionId = form.get("subscriptionId");
    return subscriptionId === null ? {} : { subscriptionId };
  });
  revalidatePath("/billing");
  redirect(url);
}
