import type { PaymentEvent } from "../domain/events/payment-event.ts";
import type { Slot } from "../domain/slot.ts";
import type { Queryable } from "../store/database.ts";
import { findKnownCustomers } from "../store/reconciliation/verification.ts";
import { findUserStates, type UserState } from "../store/users/user-states.ts";

/**
 * Whether a provider's subscription belongs to a user of ours, or to a deleted one; `null`: to neither. One
 * without a user id belongs to the user of its customer, if known.
 */
export async function findOwners(
  database: Queryable,
  slot: Slot,
  states: readonly PaymentEvent[],
): Promise<(state: PaymentEvent) => UserState | null> {
  const users = await findUserStates(
    database,
    states.flatMap(({ userId }) => (userId === null ? [] : [userId])),
  );
  const customers = await findKnownCustomers(
    database,
    slot,
    states.flatMap(({ userId, customerId }) => (userId === null && customerId !== null ? [customerId] : [])),
  );
  return ({ userId, customerId }) => {
    if (userId !== null) return users.get(userId) ?? null;
    return customerId !== null && customers.has(customerId) ? "present" : null;
  };
}
