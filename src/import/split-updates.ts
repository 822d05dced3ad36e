import type { ImportedUser } from "../store/reconciliation/imported-users.ts";

/** A user as a row of the file leaves them, with the address that they had before that row. */
export type UserUpdate = { user: ImportedUser; emailBefore: string };

/**
 * Splits updates, which are in the order of the file, into those of one statement each. PostgreSQL updates the rows of
 * a statement in any order and compares each with the others at once: an address that one user gives up can be taken
 * in the next statement only, and so can a second update of a user.
 */
export function splitUpdates(updates: readonly UserUpdate[]): ImportedUser[][] {
  const rounds: UserUpdate[][] = [];
  for (const update of updates) {
    const { id, email } = update.user;
    const round = rounds.at(-1);
    if (round === undefined || round.some(({ user, emailBefore }) => user.id === id || emailBefore === email))
      rounds.push([update]);
    else round.push(update);
  }
  return rounds.map((round) => round.map(({ user }) => user));
}
