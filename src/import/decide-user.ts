import type { ImportedUser, KnownUser } from "../store/reconciliation/imported-users.ts";
import type { UserState } from "../store/users/user-states.ts";
import type { UserRow } from "./user-row.ts";

export type UserDecision =
  | { outcome: "created"; user: Omit<ImportedUser, "id"> & { id: string | null } }
  | { outcome: "updated"; user: KnownUser }
  | { outcome: "same" }
  | { outcome: "left out"; reason: string };

/**
 * How a row changes the known users. It is never linked to somebody else's account: id, external id and
 * address must agree, and who has signed up with an address must have confirmed it. Users with a password keep
 * their name, language and address.
 */
export function decideUser(
  row: UserRow,
  existing: readonly KnownUser[],
  states: ReadonlyMap<string, UserState>,
): UserDecision {
  const matches = existing.filter(
    (user) =>
      user.id === row.id ||
      (row.externalId !== null && user.externalId === row.externalId) ||
      user.email === row.email,
  );
  const [user, secondUser] = matches;
  if (secondUser !== undefined) return leftOut("id, external id and address belong to different accounts");
  if (user === undefined) {
    if (row.id !== null && states.get(row.id) === "deleted") return leftOut("id: its account was deleted");
    const { id, externalId, email } = row;
    const name = row.name ?? (email.split("@")[0] as string).slice(0, 100);
    return { outcome: "created", user: { id, externalId, email, name, locale: row.locale ?? "en" } };
  }
  if (row.id !== null && row.id !== user.id) return leftOut(`the account has the id "${user.id}"`);
  if (row.externalId !== null && user.externalId !== null && row.externalId !== user.externalId)
    return leftOut(`externalId: the account has "${user.externalId}"`);
  // Anybody can sign up with somebody else's address, and would get what the external id has paid for.
  const isOnlyClaimed = user.hasPassword && !user.isEmailConfirmed;
  if (isOnlyClaimed && row.id === null && row.externalId !== null && user.externalId === null)
    return leftOut(`email: the account has not confirmed it; if it is theirs, name its id "${user.id}"`);
  const isTheirs = user.hasPassword || user.role === "admin";
  if (isTheirs && row.email !== user.email)
    return leftOut("email: the account has a password or is an administrator's, and keeps its address");
  const after: KnownUser = {
    ...user,
    externalId: user.externalId ?? row.externalId,
    email: row.email,
    name: isTheirs ? user.name : (row.name ?? user.name),
    locale: isTheirs ? user.locale : (row.locale ?? user.locale),
  };
  const isSame = (["externalId", "email", "name", "locale"] as const).every(
    (key) => after[key] === user[key],
  );
  return isSame ? { outcome: "same" } : { outcome: "updated", user: after };
}

function leftOut(reason: string): UserDecision {
  return { outcome: "left out", reason };
}
