import { AsyncLocalStorage } from "node:async_hooks";

/**
 * What belongs to one request while Better Auth works on it: it takes no parameter along to the database, and keeps
 * some of the database's errors to itself (a sign-out that did not happen is reported as done).
 */
export type RequestScope = {
  /** The client's. */
  address: string;
  /** The last error of the database, `null` when there was none. */
  failure: unknown;
};

export type RequestScopes = AsyncLocalStorage<RequestScope>;

export function requestScopes(): RequestScopes {
  return new AsyncLocalStorage();
}
