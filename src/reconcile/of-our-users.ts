import type { PaymentEvent } from "../domain/payment-event.ts";
import type { Slot } from "../domain/slot.ts";
import type { Queryable } from "../store/database.ts";
import { findUserStates } from "../store/user-states.ts";
import { findKnownCustomers } from "../store/verification.ts";

/**
 * Which of a provider's subscriptions belong to our users. One without a user id belongs to the user of its
 * customer, if known.
 */
export async function ofOurUsers(
  database: Queryable,
  slot: Slot,
  states: readonly PaymentEvent[],
): Promise<(state: PaymentEvent) => boolean> {
  const users = await findUserStates(
    database,
    states.flatMap(({ userId }) => (userId === null ? [] : [userId])),
  );
  const customers = await findKnownCustomers(
    database,
    slot,
    states.flatMap(({ userId, customerId }) => (userId === null && customerId !== null ? [customerId] : [])),
  );
  return ({ userId, customerId }) =>
    userId !== null ? users.get(userId) === "present" : customerId !== null && customers.has(customerId);
}
