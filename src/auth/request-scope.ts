import { AsyncLocalStorage } from "node:async_hooks";
import type { Locale } from "../domain/locale.ts";

/**
 * The state of one request while Better Auth handles it: its hooks get no parameters of ours, and it swallows
 * some database errors (a sign-out that failed is reported as done).
 */
export type RequestScope = {
  /** The client's. */
  address: string;
  /** The language of a new account. */
  locale: Locale;
  /** The last database error, `null` without one. */
  failure: unknown;
};

export type RequestScopes = AsyncLocalStorage<RequestScope>;

export function requestScopes(): RequestScopes {
  return new AsyncLocalStorage();
}
