import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { isPaymentApiProblem } from "../domain/payment-api.ts";
import { refuse } from "../domain/refusal.ts";
import { holdCheckout, releaseCheckoutLease } from "../store/checkouts.ts";
import type { Queryable } from "../store/database.ts";
import { insertUnwanted } from "../store/unwanted-subscriptions.ts";
import { findUser } from "../store/users.ts";
import { type ClosingTools, closeStoredCheckout } from "./close-checkout.ts";

/**
 * Makes sure that nobody pays for an account that is about to be deleted.
 * @returns what lets the person open a checkout again, when the account is not deleted after all
 * @throws Refusal `unavailable`
 */
export type CloseOpenCheckout = (userId: string) => Promise<() => Promise<void>>;

const NOTHING_HELD = async () => {};

const LEASE_SECONDS = 60;
const WAIT_MS = 15_000;
const RETRY_MS = 100;

/**
 * Closes the person's open checkout and keeps another from being opened meanwhile. Where a provider cannot close one,
 * or it was paid already, what results is canceled and refunded once an event reports it.
 */
export function closeOnDeletion(tools: ClosingTools & { database: Queryable }): CloseOpenCheckout {
  const { database, log } = tools;
  return async (userId) => {
    const user = await findUser(database, userId);
    if (user === null) return NOTHING_HELD;
    const leaseKey = randomUUID();
    const giveUpAt = performance.now() + WAIT_MS;
    for (;;) {
      const held = await holdCheckout(database, userId, { leaseKey, leaseSeconds: LEASE_SECONDS });
      if (held === null) return NOTHING_HELD;
      if (held === "busy") {
        if (performance.now() >= giveUpAt) refuse({ reason: "checkout_in_progress" });
        await sleep(RETRY_MS);
        continue;
      }
      const release = () => releaseCheckoutLease(database, userId, leaseKey);
      if (held.before === null) return release;
      const { provider } = held.before;
      try {
        const end = await closeStoredCheckout(tools, { ...held.before, userId, email: user.email });
        if (end.status === "paid" && end.providerSubscriptionId !== null && !held.before.isUsed) {
          const { providerSubscriptionId } = end;
          await insertUnwanted(database, [{ provider, providerSubscriptionId }]);
        }
      } catch (error) {
        if (!isPaymentApiProblem(error)) throw error;
        await release();
        const { failure, message: reason } = error;
        log.error(
          { slot: provider, failure, reason },
          "the checkout of a deleted account could not be closed",
        );
        refuse({ reason: "checkout_not_closed" });
      }
      return release;
    }
  };
}
