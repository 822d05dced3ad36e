import { AsyncLocalStorage } from "node:async_hooks";
import type { AccountCall, AccountCallResult } from "../../domain/callers/account-call.ts";
import type { Person } from "../../domain/callers/caller.ts";
import type { RefusalCode } from "../../domain/refusals/reason-definition.ts";
import type { LimitCharge } from "../../limits/charge.ts";
import type { Scope } from "../../limits/policies.ts";
import type { ThrottledLog } from "../../observability/limit-repeats.ts";
import type { Dependencies } from "../../operations/dependencies.ts";

/** What pages know of their request, and what they work with. */
export type PageRequest = {
  /** Identifies the request in responses and in the log. */
  id: string;
  /** With its query, as the browser requested it; for an action, the page that it was sent from. */
  path: string;
  /** The signed-in user, or `null`. @throws DatabaseUnavailable */
  person(): Promise<Person | null>;
  /** The client's: limits count by it when nobody is signed in. */
  address: string;
  /** For scripts and styles in the page, RFC: CSP level 3, section 6.7.2.3. */
  nonce: string;
  /** The request's header, by its name in lower case. */
  header(name: string): string | undefined;
  /** Adds the rate-limit headers of a call, until the response's headers have been sent. */
  charged(charges: readonly LimitCharge[]): void;
  /** Until then, an error is taken to be in the request itself. */
  markParsed(): void;
  /** The status that replaces the 500 of Next.js from now on; `null`: the error is ours, and 500 is right. */
  setErrorStatus(code: RefusalCode | null): void;
  /** Whether an error would be ours now. */
  isOurFailure(): boolean;
  /**
   * Responds with 503, whatever the page shows: its data cannot be loaded, or its form not be processed, at
   * the moment.
   */
  cannotServe(): void;
  /**
   * Responds with 403 or 404 to a page that shows why. Returns whether it can: a serverless host sends the
   * status of Next.js.
   */
  setRefusalStatus(code: "forbidden" | "not_found"): boolean;
  deps: Dependencies;
  accounts: PageAccounts;
  /** Whether notifications are mailed, to users who have not turned them off. */
  mails: boolean;
  /** The public origin, without a slash at the end. */
  appUrl: string;
  log: ThrottledLog;
};

/** Signing up, in and out, passwords, second factors and addresses: see `auth/auth.ts`. */
export type PageAccounts = {
  scopeOf(method: string, path: string): Scope | null;
  call(request: AccountCall): Promise<AccountCallResult>;
};

const SHARED = Symbol.for("tollgate.page-requests");

type Shared = { [SHARED]?: AsyncLocalStorage<PageRequest> };

/** Next.js bundles the pages, with copies of our modules: what both must share is kept on `globalThis`. */
export function pageRequests(): AsyncLocalStorage<PageRequest> {
  const shared = globalThis as Shared;
  shared[SHARED] ??= new AsyncLocalStorage();
  return shared[SHARED];
}
