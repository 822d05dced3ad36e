import { type Context, Hono } from "hono";
import { type Form, readForm } from "../http/form.ts";
import { applyCommand, type Command } from "../lifecycle/apply-command.ts";
import type { Offer } from "../lifecycle/offer.ts";
import { emitEvents } from "../server/emit-events.ts";
import { findOffer, findSubscription, nowSeconds, type ProviderSlot } from "../server/provider-slot.ts";
import type { SimulatedSubscription } from "../server/state.ts";
import { invalid, missing } from "./errors.ts";
import { scheduleId } from "./events.ts";

/** A phase for the paid period, and one for the next. https://docs.stripe.com/api/subscription_schedules */
export function stripeSchedules(slot: ProviderSlot): Hono {
  const app = new Hono();
  app.post("/", async (c) => {
    const id = (await readForm(c)).text("from_subscription") ?? "";
    const subscription = findSubscription(slot, id);
    if (subscription === null) throw missing("subscription", id, "from_subscription", 400);
    if (subscription.scheduled)
      throw invalid(
        `You cannot migrate a subscription that is already attached to a schedule: ${scheduleId(id)}.`,
        "from_subscription",
      );
    return c.json(
      schedule(apply(slot, subscription, { to: "change at period end", offer: null, seats: null })),
    );
  });
  app.get("/:id", (c) => c.json(schedule(requireScheduled(slot, c))));
  app.post("/:id", async (c) => {
    const subscription = requireScheduled(slot, c);
    const form = await readForm(c);
    requireCurrentPhase(subscription, form);
    const priceId = form.text("phases[1][items][0][price]");
    if (priceId === null) return c.json(schedule(subscription));
    if (form.text("phases[1][duration][interval]") === null)
      throw invalid("You must specify `duration` or `end_date` for the last phase.", "phases");
    const offer = findOffer(slot, priceId);
    if (offer === null) throw missing("price", priceId, "phases[1][items][0][price]", 400);
    const seats = form.wholeNumber("phases[1][items][0][quantity]");
    return c.json(schedule(apply(slot, subscription, { to: "change at period end", offer, seats })));
  });
  app.post("/:id/release", (c) => {
    const released = apply(slot, requireScheduled(slot, c), { to: "withdraw the scheduled change" });
    return c.json({ ...schedule(released), status: "released" });
  });
  return app;
}

function requireScheduled(slot: ProviderSlot, c: Context): SimulatedSubscription {
  const id = c.req.param("id") ?? "";
  const subscription = findSubscription(slot, id.replace(/^sub_sched_/, "sub_"));
  if (!subscription?.scheduled) throw missing("subscription_schedule", id, "id");
  return subscription;
}

/** Another first phase would change what is paid already. */
function requireCurrentPhase({ state }: SimulatedSubscription, form: Form): void {
  const isCurrent = form.text("phases[0][start_date]") === String(state.periodStartSeconds);
  const isSame =
    form.text("phases[0][items][0][price]") === state.offer.priceId &&
    form.wholeNumber("phases[0][items][0][quantity]") === state.seats;
  if (!isCurrent || !isSame) throw invalid("The current phase cannot be changed here.", "phases");
  const currencies = [0, 1].map((at) => form.text(`phases[${at}][currency]`)?.toUpperCase());
  if (currencies.some((currency) => currency !== undefined && currency !== state.offer.currency))
    throw invalid("The currency of a subscription cannot be changed.", "phases");
}

function apply(
  slot: ProviderSlot,
  subscription: SimulatedSubscription,
  command: Command,
): SimulatedSubscription {
  const outcome = applyCommand(subscription, command, nowSeconds(slot));
  if (typeof outcome === "string") throw invalid(outcome);
  return emitEvents(slot, outcome);
}

function schedule({ ids, state, scheduled }: SimulatedSubscription): object {
  const { periodStartSeconds: start_date, periodEndSeconds: end_date, offer, seats } = state;
  const trial_end = state.status === "trialing" ? end_date : null;
  const planned = scheduled?.offer || scheduled?.seats ? scheduled : null;
  const next = planned
    ? [
        phase({
          ...pricedAs(planned.offer ?? offer),
          seats: planned.seats ?? seats,
          start_date: end_date,
          end_date: 2 * end_date - start_date,
          trial_end: null,
        }),
      ]
    : [];
  return {
    id: scheduleId(ids.subscriptionId),
    object: "subscription_schedule",
    status: "active",
    subscription: ids.subscriptionId,
    customer: ids.customerId,
    end_behavior: "release",
    current_phase: { start_date, end_date },
    phases: [phase({ ...pricedAs(offer), seats, start_date, end_date, trial_end }), ...next],
  };
}

function pricedAs({ priceId, currency }: Offer): { priceId: string; currency: string } {
  return { priceId, currency: currency.toLowerCase() };
}

function phase({
  priceId,
  seats,
  ...rest
}: {
  priceId: string;
  currency: string;
  seats: number;
  start_date: number;
  end_date: number;
  trial_end: number | null;
}): object {
  return {
    items: [{ price: priceId, quantity: seats, discounts: [], metadata: {}, tax_rates: [] }],
    ...rest,
    discounts: [],
    default_tax_rates: [],
    automatic_tax: { enabled: true },
    collection_method: null,
    default_payment_method: null,
    description: null,
    metadata: {},
  };
}
