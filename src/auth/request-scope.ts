import { AsyncLocalStorage } from "node:async_hooks";
import type { Locale } from "../domain/locale.ts";
import type { Queryable } from "../store/database.ts";
import type { StoredNotice } from "../store/sign-in/account-notices.ts";

/**
 * The state of one request while Better Auth handles it: its hooks get no parameters of ours, and it swallows
 * some database errors (a sign-out that failed is reported as done).
 */
export type RequestScope = {
  /** The client's. */
  address: string;
  /** The language of a new account. */
  locale: Locale;
  /** The id of the session that the request was sent with, if its route needs one. */
  sessionId: string | null;
  /** `null`: the request sets no new password. */
  newPassword: NewPassword | null;
  /** The transaction that is open. */
  transaction: Queryable | null;
  /** The token of the last session that the request has started. */
  newSessionToken: string | null;
  /** The encrypted secret of the second factor that was read last, which a code is checked against; `null`: none. */
  checkedSecret: string | null;
  /** The notice of what the request has changed, once that is committed; `null`: nothing that the user is told of. */
  notice: StoredNotice | null;
  /** The last database error, `null` without one. */
  failure: unknown;
};

export type NewPassword = {
  action: "user.password_reset" | "user.password_changed";
  /** Whether keys and calendar addresses end with the old password. */
  revokesKeys: boolean;
  /** Whose: known once the transaction has begun. */
  userId: string | null;
  /** The notice of it, which is stored in the same transaction; `null`: not yet. */
  notice: StoredNotice | null;
};

export type RequestScopes = AsyncLocalStorage<RequestScope>;

export function requestScopes(): RequestScopes {
  return new AsyncLocalStorage();
}

/** At the beginning of a request. */
export function newScope(
  initial: Pick<RequestScope, "address" | "locale"> &
    Partial<Pick<RequestScope, "sessionId" | "newPassword">>,
): RequestScope {
  return {
    sessionId: null,
    newPassword: null,
    transaction: null,
    newSessionToken: null,
    checkedSecret: null,
    notice: null,
    failure: null,
    ...initial,
  };
}
