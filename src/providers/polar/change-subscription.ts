import { getSubscriptions, updateSubscriptions } from "@polar-sh/sdk/2026-10/services/subscriptions";
import type { ChangeOrder, WaitingChange } from "../../domain/providers/payment-api.ts";
import { isPaymentApiProblem } from "../../domain/providers/payment-api-problem.ts";
import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { nullIfNotFound } from "../outbound/null-if-not-found.ts";
import { pathSegment } from "../outbound/path-segment.ts";
import { afterWithdrawal, sendInTurn } from "../outbound/send-in-turn.ts";
import { changeNow } from "./change-now.ts";
import type { PolarClient } from "./client.ts";
import { explainRefusal, outsideCurrentProduct } from "./explain-refusal.ts";
import { allowsSeats } from "./seats.ts";

/**
 * Product and seats are changed by separate requests. Polar adds a change for the next period to one that
 * waits, and keeps that one when something changes at once: it is cleared first.
 */
export async function changeSubscription(
  provider: ConnectedProvider,
  client: PolarClient,
  id: string,
  order: ChangeOrder,
): Promise<void> {
  const path = pathSegment(provider, id);
  const subscription = await getSubscriptions(client)(path);
  const update = updateSubscriptions(client);
  const withdraw = () => update(path, { pending_update: null });
  await afterWithdrawal(subscription.pending_update ? withdraw : null, () =>
    explainRefusal(provider, client, { subscription, order }, () =>
      order.when === "now"
        ? changeNow(subscription, order, (step) => update(path, step))
        : allOrNothing(() => changeAtPeriodEnd(order, (step) => update(path, step)), withdraw),
    ),
  );
}

/** Polar quotes no cost; what it would refuse is refused here, before the change is confirmed. */
export async function previewChange(
  provider: ConnectedProvider,
  client: PolarClient,
  id: string,
  { when, priceId, seats }: ChangeOrder,
): Promise<null> {
  if (when === "now" || priceId === null || seats === null) return null;
  const subscription = await nullIfNotFound(async () => getSubscriptions(client)(pathSegment(provider, id)));
  if (subscription !== null && !allowsSeats(subscription.prices, seats))
    throw outsideCurrentProduct(provider);
  return null;
}

function changeAtPeriodEnd(
  { priceId, seats }: ChangeOrder,
  update: (
    step: ({ product_id: string } | { seats: number }) & { proration_behavior: "next_period" },
  ) => Promise<unknown>,
): Promise<void> {
  const proration_behavior = "next_period";
  return sendInTurn([
    ...(priceId === null ? [] : [() => update({ product_id: priceId, proration_behavior })]),
    ...(seats === null ? [] : [() => update({ seats, proration_behavior })]),
  ]);
}

/** What waits for the next period has cost nothing yet, so that a part of it can be withdrawn. */
async function allOrNothing(change: () => Promise<void>, withdraw: () => Promise<unknown>): Promise<void> {
  try {
    await change();
  } catch (error) {
    if (!isPaymentApiProblem(error) || error.failure !== "incomplete") throw error;
    await withdraw();
    throw error.cause;
  }
}

export async function fetchScheduledChange(client: PolarClient, id: string): Promise<WaitingChange | null> {
  const { pending_update, product_id, seats } = await getSubscriptions(client)(id);
  if (!pending_update) return null;
  return {
    priceId: pending_update.product_id ?? product_id,
    seats: pending_update.seats ?? seats ?? 1,
    at: new Date(pending_update.applies_at),
  };
}
