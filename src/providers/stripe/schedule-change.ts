import type Stripe from "stripe";
import type { ChangeOrder, WaitingChange } from "../../domain/providers/payment-api.ts";
import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { pathSegment } from "../outbound/path-segment.ts";
import { problem } from "../outbound/problems.ts";
import { mapStripeErrors } from "./client.ts";

/**
 * A change at the end of the paid period: a schedule whose first phase is the period as it is paid and whose
 * second one has the change, after which Stripe releases the subscription. A later change replaces an earlier
 * one. https://docs.stripe.com/billing/subscriptions/subscription-schedules
 */
export async function scheduleChange(
  provider: ConnectedProvider,
  client: Stripe,
  subscription: Stripe.Subscription,
  change: ChangeOrder,
): Promise<void> {
  // Its event may be on its way: a phase after the end would continue what the person has canceled.
  if (isEnding(subscription))
    throw problem(provider, "unsupported", "the subscription has a set end, with its period or later", {
      remedy: "A schedule would take the place of that end: change it at once, or withdraw the end first.",
      obstacle: "ending",
    });
  const run = <Result>(request: () => Promise<Result>) => mapStripeErrors(provider, request);
  const attached = scheduleOf(subscription);
  const schedule = await run(async () =>
    attached === null
      ? client.subscriptionSchedules.create({ from_subscription: subscription.id })
      : client.subscriptionSchedules.retrieve(pathSegment(provider, attached)),
  );
  const current = currentPhase(schedule);
  if (current === undefined) throw problem(provider, "rejected", "the schedule has no current phase");
  const paid = retainedFields(current);
  // Add-ons stay.
  const at = positionOf(current.items, change.currentPriceId);
  const items = paid.items.map((item, position) => (position === at ? changedItem(item, change) : item));
  const price = await run(() => client.prices.retrieve(pathSegment(provider, items[at]?.price ?? "")));
  const { interval, interval_count } = price.recurring ?? { interval: "month", interval_count: 1 };
  await run(() =>
    client.subscriptionSchedules.update(schedule.id, {
      end_behavior: "release",
      // Nothing of the current phase changes.
      proration_behavior: "none",
      phases: [
        {
          ...paid,
          start_date: current.start_date,
          end_date: current.end_date,
          ...(current.trial_end === null ? {} : { trial_end: current.trial_end }),
        },
        {
          ...paid,
          items,
          duration: { interval, interval_count },
          proration_behavior: "none",
        },
      ],
    }),
  );
}

/** What the schedule changes with its next phase; `null`: nothing. */
export async function readSchedule(
  provider: ConnectedProvider,
  client: Stripe,
  subscription: Stripe.Subscription,
  currentPriceId: string | null,
): Promise<WaitingChange | null> {
  const attached = scheduleOf(subscription);
  if (attached === null) return null;
  const schedule = await mapStripeErrors(provider, () =>
    client.subscriptionSchedules.retrieve(pathSegment(provider, attached)),
  );
  const current = currentPhase(schedule);
  const next = schedule.phases.find(({ start_date }) => start_date === current?.end_date);
  const item = current && next?.items[positionOf(current.items, currentPriceId)];
  if (next === undefined || item === undefined) return null;
  return { priceId: idOf(item.price), seats: item.quantity ?? 1, at: new Date(next.start_date * 1000) };
}

/**
 * A change at once ends a schedule, which would undo it with its next phase. A cancellation that the schedule
 * itself has set would be lost with it.
 */
export async function releaseSchedule(
  provider: ConnectedProvider,
  client: Stripe,
  subscription: Stripe.Subscription,
): Promise<void> {
  const attached = scheduleOf(subscription);
  if (attached === null) return;
  const id = pathSegment(provider, attached);
  await mapStripeErrors(provider, async () => {
    const keepsEnd =
      isEnding(subscription) && (await client.subscriptionSchedules.retrieve(id)).end_behavior === "cancel";
    await client.subscriptionSchedules.release(id, keepsEnd ? { preserve_cancel_date: true } : {});
  });
}

function isEnding({ cancel_at, cancel_at_period_end }: Stripe.Subscription): boolean {
  return cancel_at_period_end || typeof cancel_at === "number";
}

function scheduleOf({ schedule }: Stripe.Subscription): string | null {
  return typeof schedule === "string" ? schedule : (schedule?.id ?? null);
}

function currentPhase({ phases, current_phase }: Stripe.SubscriptionSchedule): Phase | undefined {
  return phases.find(({ start_date }) => start_date === current_phase?.start_date);
}

type Phase = Stripe.SubscriptionSchedule.Phase;
type PhaseItem = Stripe.SubscriptionScheduleUpdateParams.Phase.Item;

/** What a phase would lose if an update left it out. */
function retainedFields(phase: Phase) {
  const { automatic_tax, collection_method, default_payment_method, default_tax_rates, description } = phase;
  return {
    items: phase.items.map(retainedItem),
    discounts: discountsOf(phase.discounts),
    // Stripe's default is the prices' own; customers may be charged in another: docs.stripe.com/products-prices/manage-prices
    currency: phase.currency,
    ...(automatic_tax ? { automatic_tax: { enabled: automatic_tax.enabled } } : {}),
    ...(collection_method === null ? {} : { collection_method }),
    ...(default_payment_method ? { default_payment_method: idOf(default_payment_method) } : {}),
    ...(default_tax_rates?.length ? { default_tax_rates: default_tax_rates.map(idOf) } : {}),
    ...(description === null ? {} : { description }),
  };
}

/** The first one, where the price is not known. */
function positionOf(items: Phase["items"], priceId: string | null): number {
  return Math.max(
    0,
    items.findIndex(({ price }) => idOf(price) === priceId),
  );
}

function retainedItem({ price, quantity, discounts, tax_rates }: Phase["items"][number]): PhaseItem {
  return {
    price: idOf(price),
    ...(quantity === undefined ? {} : { quantity }),
    ...(discounts.length > 0 ? { discounts: discountsOf(discounts) } : {}),
    ...(tax_rates?.length ? { tax_rates: tax_rates.map(idOf) } : {}),
  };
}

function discountsOf(discounts: Phase["discounts"]): { discount?: string; coupon?: string }[] {
  return discounts.flatMap<{ discount?: string; coupon?: string }>(({ discount, coupon }) =>
    discount !== null ? { discount: idOf(discount) } : coupon !== null ? { coupon: idOf(coupon) } : [],
  );
}

/** What is not to change stays as it is paid: it may have been changed elsewhere. */
function changedItem(item: PhaseItem, { priceId, seats }: ChangeOrder): PhaseItem {
  return {
    ...item,
    ...(priceId === null ? {} : { price: priceId }),
    ...(seats === null ? {} : { quantity: seats }),
  };
}

function idOf(reference: string | { id: string }): string {
  return typeof reference === "string" ? reference : reference.id;
}
