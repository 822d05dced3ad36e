import { randomUUID } from "node:crypto";
import type { CheckoutOrder, OpenedCheckout, PaymentApi } from "../domain/providers/payment-api.ts";
import { isPaymentApiProblem } from "../domain/providers/payment-api-problem.ts";
import { notFound, Refusal, refuse } from "../domain/refusals/refusal.ts";
import { withLease } from "../store/hold-lease.ts";
import type { Lease } from "../store/leases.ts";
import {
  checkoutLease,
  findOpenCheckout,
  findStoredCheckout,
  forgetCheckout,
  keepCheckout,
  placeCheckoutOrder,
} from "../store/subscriptions/checkouts.ts";
import { customersOfUser } from "../store/subscriptions/customers.ts";
import { type BillingTools, checkoutOrder, type Order } from "./checkout-order.ts";
import { closeStoredCheckout } from "./close-checkout.ts";
import { isSubscribed } from "./is-subscribed.ts";
import { mapProviderErrors } from "./map-provider-errors.ts";
import { replaceCheckout } from "./replace-checkout.ts";
import { LEASE_SECONDS, waitForLease } from "./wait-for-lease.ts";

/** For providers that do not report when a checkout expires. */
const KEEP_SECONDS = 60 * 60;

/** `lost`: what was opened, and could not be stored as the lease had been lost, is added. */
type LeasedOrder = { api: PaymentApi; order: Order; lease: Lease; lost: OpenedCheckout[] };

/**
 * Returns the URL at which the user can pay. There is one checkout per user: requests for the same order, in
 * any process, get the same one. No transaction is open while a provider is called.
 * @throws Refusal `unavailable`; `conflict` for a checkout that was paid; `not_found` when the account is
 * deleted meanwhile
 */
export async function openCheckout(deps: BillingTools, api: PaymentApi, order: Order): Promise<string> {
  const { database } = deps;
  const lost: OpenedCheckout[] = [];
  try {
    const url = await waitForLease(async () => {
      const open = await findOpenCheckout(database, order, { keepSeconds: KEEP_SECONDS, lease: null });
      if (open !== null) return open;
      return withLease(database, checkoutLease(order.userId), { seconds: LEASE_SECONDS }, (lease) =>
        openWithLease(deps, { api, order, lease, lost }),
      );
    });
    // The same one where the provider knows the order's idempotency key: it must stay open.
    for (const opened of lost) if (opened.url !== url) await close(deps, order, opened);
    return url;
  } catch (error) {
    // Else a later order may get it by that key. Nobody has its URL so far.
    const isAccountGone = error instanceof Refusal && error.reason === "not_found";
    for (const opened of isAccountGone ? lost : []) await close(deps, order, opened);
    throw error;
  }
}

/** `null`: another process is opening one, or has taken over the lease. */
async function openWithLease(deps: BillingTools, leased: LeasedOrder): Promise<string | null> {
  const { database } = deps;
  const { order, lease } = leased;
  // Another request may have opened one before this one acquired the lease.
  const open = await findOpenCheckout(database, order, { keepSeconds: KEEP_SECONDS, lease });
  if (open !== null) return open;
  // If anything below fails, the open checkout stays in its row, so that the next order closes it.
  const previous = await findStoredCheckout(database, order.userId);
  if (previous === "busy") return null;
  const updated = previous === null ? null : await replaceCheckout(deps, leased, previous);
  if (updated !== null) return await keep(deps, leased, updated);
  // The user may have paid before the lease was acquired, and would buy a second subscription.
  if (await isSubscribed(deps, order)) refuse({ reason: "subscription_exists" });
  const placed = await placeCheckoutOrder(database, order, {
    lease,
    leaseSeconds: LEASE_SECONDS,
    newIdempotencyKey: randomUUID(),
  });
  switch (placed.outcome) {
    case "placed":
      return openPlaced(deps, leased, placed.idempotencyKey);
    case "lease lost":
      return null;
    case "no user":
      return notFound("user");
    default:
      return placed satisfies never;
  }
}

/** `null`: the lease was lost. */
async function openPlaced(
  deps: BillingTools,
  leased: LeasedOrder,
  idempotencyKey: string,
): Promise<string | null> {
  const { database } = deps;
  const { order, lease } = leased;
  try {
    const customers = await customersOfUser(database, order.userId);
    const existing = customers.find(
      ({ provider, customerId }) => provider === order.provider && customerId !== null,
    );
    const placed = await checkoutOrder(deps, order, idempotencyKey);
    const opening = openFor(leased, existing?.customerId ?? null, placed);
    const facts = { slot: order.provider, userId: order.userId };
    return await keep(deps, leased, await mapProviderErrors(deps, facts, opening));
  } catch (error) {
    // The caller must get the first error, not that of this clean-up.
    await forgetCheckout(database, order.userId, lease).catch(() => {});
    throw error;
  }
}

/** Stores what was opened. `null`: the lease was lost meanwhile. */
async function keep(
  deps: BillingTools,
  { order, lease, lost }: LeasedOrder,
  opened: OpenedCheckout,
): Promise<string | null> {
  if (await keepCheckout(deps.database, order, { lease, opened })) return opened.url;
  lost.push(opened);
  return null;
}

async function close(
  deps: BillingTools,
  { provider, userId, email }: Order,
  { id }: OpenedCheckout,
): Promise<void> {
  await closeStoredCheckout(deps, { provider, id, userId, email }).catch((error: unknown) => {
    if (!isPaymentApiProblem(error)) throw error;
    const { failure, message: reason } = error;
    deps.log.error({ slot: provider, failure, reason }, "a checkout could not be closed");
  });
}

/** A customer may have been deleted at the provider: the checkout then creates a new one. */
async function openFor(
  { api }: LeasedOrder,
  customerId: string | null,
  order: CheckoutOrder,
): Promise<OpenedCheckout> {
  try {
    return await api.createCheckout({ ...order, customerId });
  } catch (error) {
    if (customerId === null || !isPaymentApiProblem(error) || error.failure !== "missing") throw error;
    // Needs another idempotency key: the provider would repeat its first response.
    const idempotencyKey = `${order.idempotencyKey}-anew`;
    return api.createCheckout({ ...order, idempotencyKey, customerId: null });
  }
}
