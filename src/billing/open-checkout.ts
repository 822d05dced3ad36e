import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type CheckoutOrder,
  isPaymentApiProblem,
  type OpenedCheckout,
  type PaymentApi,
} from "../domain/payment-api.ts";
import type { PlanCatalog } from "../domain/plan.ts";
import { refuse } from "../domain/refusal.ts";
import type { Slot } from "../domain/slot.ts";
import type { Intake } from "../intake/intake.ts";
import {
  checkoutLease,
  findOpenCheckout,
  findStoredCheckout,
  forgetCheckout,
  keepCheckout,
  placeCheckoutOrder,
  type StoredCheckout,
  type WantedCheckout,
} from "../store/checkouts.ts";
import { customersOfUser, isSubscribed } from "../store/customers.ts";
import type { Queryable } from "../store/database.ts";
import { withLease } from "../store/hold-lease.ts";
import type { Lease } from "../store/leases.ts";
import { rememberReplaced } from "../store/unwanted-subscriptions.ts";
import { mapProviderErrors, type ProviderTools } from "./ask-provider.ts";
import { closeStoredCheckout } from "./close-checkout.ts";

/** How long after a crash another request takes over. */
const LEASE_SECONDS = 12;
const WAIT_FOR_OTHERS_MS = (LEASE_SECONDS + 3) * 1_000;
const RETRY_MS = 100;
/** Some providers do not say for how long a checkout can be paid. */
const KEEP_SECONDS = 60 * 60;

export type BillingTools = ProviderTools & {
  database: Queryable;
  intake: Intake;
  plans: PlanCatalog;
  activeProvider: Slot;
  /** The public origin, without a slash at the end. */
  appUrl: string;
};

type Order = WantedCheckout &
  Pick<CheckoutOrder, "email" | "isEmailConfirmed"> & {
    /** Where the person goes on afterwards; `null`: our billing page. */
    returnUrl: string | null;
  };
type Turn = { api: PaymentApi; order: Order; lease: Lease };

/**
 * Returns where the person can pay. There is one checkout per person: requests for the same order, at whichever
 * process, get the same one. No transaction is open while a provider is called.
 * @throws Refusal `unavailable`; `conflict` for a checkout that was paid; `not_found` when the account is deleted meanwhile
 */
export async function openCheckout(deps: BillingTools, api: PaymentApi, order: Order): Promise<string> {
  const giveUpAt = performance.now() + WAIT_FOR_OTHERS_MS;
  for (;;) {
    const open = await findOpenCheckout(deps.database, order, { keepSeconds: KEEP_SECONDS, lease: null });
    if (open !== null) return open;
    const name = checkoutLease(order.userId);
    const url = await withLease(deps.database, name, { seconds: LEASE_SECONDS }, (lease) =>
      takeTurn(deps, { api, order, lease }),
    );
    if (url !== null) return url;
    if (performance.now() >= giveUpAt) refuse({ reason: "checkout_in_progress" });
    await sleep(RETRY_MS);
  }
}

/** `null`: somebody else is opening one, or has taken the lease over. */
async function takeTurn(deps: BillingTools, turn: Turn): Promise<string | null> {
  const { database } = deps;
  const { order, lease } = turn;
  // Opened since the last look.
  const open = await findOpenCheckout(database, order, { keepSeconds: KEEP_SECONDS, lease });
  if (open !== null) return open;
  // Whatever fails from here on, the open checkout stays in the row: the next order has to deal with it as well.
  const before = await findStoredCheckout(database, order.userId);
  if (before === "busy") return null;
  const updated = before === null ? null : await replace(deps, turn, before);
  if (updated !== null) return await keep(deps, turn, updated);
  // Paid between the first look and the lease, it would be bought a second time.
  if (await isSubscribed(database, order.userId)) refuse({ reason: "subscription_exists" });
  const placed = await placeCheckoutOrder(database, order, {
    ...{ lease, leaseSeconds: LEASE_SECONDS, newIdempotencyKey: randomUUID() },
  });
  switch (placed.outcome) {
    case "placed":
      return openPlaced(deps, turn, placed.idempotencyKey);
    case "lease lost":
      return null;
    case "no user":
      return refuse({ reason: "not_found", params: { resource: "user" } });
    default:
      return placed satisfies never;
  }
}

/** `null`: the lease was lost. */
async function openPlaced(deps: BillingTools, turn: Turn, idempotencyKey: string): Promise<string | null> {
  const { database } = deps;
  const { order, lease } = turn;
  try {
    const customers = await customersOfUser(database, order.userId);
    const known = customers.find((one) => one.provider === order.provider && one.customerId !== null);
    const opening = openFor(turn, known?.customerId ?? null, orderFor(deps, order, idempotencyKey));
    const facts = { slot: order.provider, userId: order.userId };
    return await keep(deps, turn, await mapProviderErrors(deps, facts, opening));
  } catch (error) {
    // That the database is gone is what the caller is to learn, not that this could not be tidied up.
    await forgetCheckout(database, order.userId, lease).catch(() => {});
    throw error;
  }
}

/** Makes sure that the checkout before cannot be paid as well. `null`: it is closed. */
async function replace(
  deps: BillingTools,
  turn: Turn,
  before: StoredCheckout,
): Promise<OpenedCheckout | null> {
  const { api, order } = turn;
  const closing = { ...before, userId: order.userId, email: order.email };
  const facts = { slot: before.provider, userId: order.userId };
  const isSameSlot = before.provider === order.provider;
  if (isSameSlot && api.traits.checkout.canBeUpdated) {
    const updating = api.updateCheckout(before.id, orderFor(deps, order, randomUUID()));
    const updated = await updating.catch((error: unknown) => {
      // One that was paid or canceled meanwhile is refused: closing it says which.
      if (!isPaymentApiProblem(error) || !["rejected", "missing"].includes(error.failure)) throw error;
      return null;
    });
    if (updated !== null) return updated;
  }
  const end = await mapProviderErrors(deps, facts, closeStoredCheckout(deps, closing));
  switch (end.status) {
    case "closed":
      return null;
    case "open":
      // Should both be paid, the later one is canceled and refunded; some providers refuse it themselves.
      await rememberReplaced(deps.database, closing);
      return null;
    case "paid":
      // Of one that is used the subscription is known: whether it still runs is asked next.
      return before.isUsed ? null : refuse({ reason: "checkout_paid" });
    default:
      return end satisfies never;
  }
}

/** Stores what was opened. `null`: the lease was lost meanwhile, so it is closed again. */
async function keep(
  deps: BillingTools,
  { order, lease }: Turn,
  opened: OpenedCheckout,
): Promise<string | null> {
  if (await keepCheckout(deps.database, order, { lease, opened })) return opened.url;
  const closing = {
    ...{ provider: order.provider, id: opened.id },
    ...{ userId: order.userId, email: order.email },
  };
  await closeStoredCheckout(deps, closing).catch((error: unknown) => {
    if (!isPaymentApiProblem(error)) throw error;
    const { failure, message: reason } = error;
    deps.log.error({ slot: order.provider, failure, reason }, "a checkout could not be closed");
  });
  return null;
}

function orderFor(
  { appUrl }: BillingTools,
  { provider: _, returnUrl, ...order }: Order,
  idempotencyKey: string,
): Omit<CheckoutOrder, "customerId"> & { customerId: null } {
  return {
    ...order,
    idempotencyKey,
    customerId: null,
    successUrl: returnUrl ?? `${appUrl}/billing?checkout=completed`,
    cancelUrl: returnUrl ?? `${appUrl}/billing?checkout=cancelled`,
  };
}

/** A customer can be deleted at the provider: whoever comes back then is a new one. */
async function openFor(
  { api }: Turn,
  customerId: string | null,
  order: CheckoutOrder,
): Promise<OpenedCheckout> {
  try {
    return await api.createCheckout({ ...order, customerId });
  } catch (error) {
    if (customerId === null || !isPaymentApiProblem(error) || error.failure !== "missing") throw error;
    // Under a key of its own: the first one's response is remembered.
    const idempotencyKey = `${order.idempotencyKey}-anew`;
    return api.createCheckout({ ...order, idempotencyKey, customerId: null });
  }
}
