import { normalizedAddress } from "../domain/users/email-address.ts";
import type { Queryable } from "../store/database.ts";
import { findByExternalIds } from "../store/reconciliation/imported-users.ts";
import { findConfirmedEmails, findUserStates, type UserState } from "../store/users/user-states.ts";
import type { Mapping } from "./mapping.ts";
import type { SubscriptionRow } from "./subscription-row.ts";

export type ResolvedUsers = {
  /** By user id. */
  states: ReadonlyMap<string, UserState>;
  confirmedEmails: ReadonlyMap<string, string>;
  /** The user whom a subscription names, or the mapping; `null`: neither does. Never a guess. */
  userOf(row: SubscriptionRow): string | null;
};

/**
 * Looks up whom the subscriptions of a page belong to: by our id, or by the id of the user in the former
 * system.
 */
export async function resolveUsers(
  database: Queryable,
  rows: readonly SubscriptionRow[],
  mapping: Mapping,
): Promise<ResolvedUsers> {
  const candidates = rows.flatMap((row) => candidatesOf(row, mapping));
  const external = await findByExternalIds(database, [...new Set(candidates)]);
  const ids = [...new Set([...candidates, ...external.values()])];
  const [states, confirmedEmails] = await Promise.all([
    findUserStates(database, ids),
    findConfirmedEmails(database, ids),
  ]);
  return {
    states,
    confirmedEmails,
    userOf: (row) => {
      const candidates = candidatesOf(row, mapping);
      for (const name of candidates) {
        if (states.has(name)) return name;
        const id = external.get(name);
        if (id !== undefined) return id;
      }
      // A customer id counts only where a user was imported with it.
      return candidates.find((name) => name !== row.state?.customerId) ?? null;
    },
  };
}

/** In order of precedence. */
function candidatesOf({ state, email }: SubscriptionRow, { customers, emails }: Mapping): string[] {
  if (state === null) return [];
  const { userId, customerId } = state;
  const mapped =
    customerId !== null && Object.hasOwn(customers, customerId) ? customers[customerId] : undefined;
  const byEmail = email === null ? undefined : emails.get(normalizedAddress(email));
  return [userId, mapped, byEmail, customerId].filter((id) => id !== null && id !== undefined);
}
