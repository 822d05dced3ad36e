import { isPaymentApiProblem } from "../domain/providers/payment-api-problem.ts";
import { refuse } from "../domain/refusals/refusal.ts";
import type { Queryable } from "../store/database.ts";
import { type HeldLease, holdLease } from "../store/hold-lease.ts";
import {
  checkoutLease,
  findStoredCheckout,
  retireCheckout,
  type StoredCheckout,
} from "../store/subscriptions/checkouts.ts";
import type { UnwantedSubscription } from "../store/subscriptions/unwanted-subscriptions.ts";
import { findUser, type User } from "../store/users/users.ts";
import { type ClosingTools, closeStoredCheckout } from "./close-checkout.ts";
import { isRecorded } from "./is-recorded.ts";
import { LEASE_SECONDS, waitForLease } from "./wait-for-lease.ts";

/**
 * Makes sure that nobody pays for an account that is about to be deleted: no checkout is opened until `release`.
 * @throws Refusal `unavailable`
 */
export type HoldCheckout = (userId: string) => Promise<HeldCheckout>;

type HeldCheckout = {
  /**
   * Closes the one that is open. Returns what has been paid through it and no event has reported yet: unwanted
   * once the account is deleted. @throws Refusal `unavailable`
   */
  close(): Promise<UnwantedSubscription[]>;
  release(): Promise<void>;
};

type Tools = ClosingTools & { database: Queryable };

/**
 * If the provider cannot close the checkout, or it has been paid, the resulting subscription is canceled and
 * refunded once an event reports it.
 */
export function closeOnDeletion(tools: Tools): HoldCheckout {
  const { database } = tools;
  return async (userId) => {
    const user = await findUser(database, userId);
    if (user === null) return { close: async () => [], release: async () => {} };
    const { lease, stored } = await holdCheckout(database, userId);
    return {
      close: async () => (stored === null ? [] : await close(tools, user, stored)),
      release: () => lease.release(),
    };
  };
}

async function holdCheckout(
  database: Queryable,
  userId: string,
): Promise<{ lease: HeldLease; stored: StoredCheckout | null }> {
  return waitForLease(async () => {
    const lease = await holdLease(database, checkoutLease(userId), { seconds: LEASE_SECONDS });
    if (lease === null) return null;
    const stored = await findStoredCheckout(database, userId).catch(async (error) => {
      await lease.release();
      throw error;
    });
    if (stored !== "busy") return { lease, stored };
    await lease.release();
    return null;
  });
}

async function close(tools: Tools, user: User, stored: StoredCheckout): Promise<UnwantedSubscription[]> {
  const { provider } = stored;
  const checkout = { ...stored, userId: user.id, email: user.email };
  await retireCheckout(tools.database, user.id);
  try {
    const end = await closeStoredCheckout(tools, checkout);
    if (end.status !== "paid" || end.providerSubscriptionId === null) return [];
    const { providerSubscriptionId } = end;
    // Found by an address that may be somebody else's, see `adoptPaid`: its event will name whose checkout it was.
    if (tools.payments[provider]?.listEvents === null && !user.emailVerified) return [];
    const isKnown = await isRecorded(tools.database, checkout, providerSubscriptionId);
    return isKnown ? [] : [{ provider, providerSubscriptionId }];
  } catch (error) {
    if (!isPaymentApiProblem(error)) throw error;
    const { failure, message: reason } = error;
    tools.log.error(
      { slot: provider, failure, reason },
      "the checkout of a deleted account could not be closed",
    );
    return refuse({ reason: "checkout_not_closed" });
  }
}
