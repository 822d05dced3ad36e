import type { Handler } from "hono";
import { readForm } from "../http/form.ts";
import { changeItems } from "../lifecycle/change-items.ts";
import { chargeFor, periodLine } from "../lifecycle/charge.ts";
import { eventContextOf } from "../server/event-context.ts";
import { findSubscription, nowSeconds, type ProviderSlot } from "../server/provider-slot.ts";
import { invalid, missing } from "./errors.ts";
import { invoice } from "./invoice.ts";
import { itemChangeIn } from "./item-change.ts";

const ITEM = "subscription_details[items][0]";

/**
 * The invoice of a change that is charged at once, else the next renewal's.
 * https://docs.stripe.com/api/invoices/create_preview
 */
export function invoicePreview(slot: ProviderSlot): Handler {
  return async (c) => {
    const form = await readForm(c);
    const id = form.text("subscription") ?? "";
    const before = findSubscription(slot, id);
    if (before === null) throw missing("subscription", id, "subscription", 400);
    const requested = {
      priceId: form.text(`${ITEM}[price]`),
      seats: form.wholeNumber(`${ITEM}[quantity]`),
      behavior: form.text("subscription_details[proration_behavior]"),
    };
    const change = itemChangeIn(slot, before.state, requested, `${ITEM}[price]`);
    const outcome = changeItems(before, change, nowSeconds(slot));
    if (typeof outcome === "string") throw invalid(outcome);
    const { subscription: changed, events } = outcome;
    const charge = events.includes("change charged")
      ? (changed.state.charge ?? null)
      : chargeFor(null, [periodLine(changed.state), ...(changed.pendingLines ?? [])], changed.credit ?? 0);
    const upcoming = { ...changed, state: { ...changed.state, charge } };
    return c.json({
      ...invoice(eventContextOf(slot, upcoming)),
      id: `upcoming_${id}`,
      subscription: id,
      status: "draft",
      attempted: false,
      amount_paid: 0,
    });
  };
}
