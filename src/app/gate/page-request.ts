import { AsyncLocalStorage } from "node:async_hooks";
import type { AccountCall, AccountCallResult } from "../../domain/account-call.ts";
import type { Person } from "../../domain/caller.ts";
import type { RefusalCode } from "../../domain/reason-definition.ts";
import type { Charge } from "../../limits/charge.ts";
import type { Scope } from "../../limits/policies.ts";
import type { Log } from "../../observability/log.ts";
import type { Dependencies } from "../../operations/dependencies.ts";

/** What the pages know of the request that they answer, and what they work with. */
export type PageRequest = {
  /** Names the request in answers and in the log. */
  id: string;
  /** With its query, as the browser asked for it; of an action, the page that it was sent from. */
  path: string;
  /** Who is signed in, or `null`. @throws DatabaseUnavailable */
  person(): Promise<Person | null>;
  /** What limits count by when nobody is signed in. */
  address: string;
  /** For scripts and styles in the page, RFC: CSP level 3, section 6.7.2.3. */
  nonce: string;
  /** The request's header, by its name in lower case. */
  header(name: string): string | undefined;
  /** Puts into the answer's head what a call has cost, as long as the head has not been sent. */
  charged(charges: readonly Charge[]): void;
  /** What Next.js answers to as a failure of ours (500) from now on: this refusal, with its status; `null`: such a failure. */
  setErrorStatus(code: RefusalCode | null): void;
  /** Whether it would be a failure of ours now. */
  isOurFailure(): boolean;
  /** Answers 503: what the page is about cannot be known at the moment. */
  cannotServe(): void;
  deps: Dependencies;
  accounts: PageAccounts;
  /** Whether notifications are mailed to those who want it. */
  mails: boolean;
  /** The public origin, without a slash at the end. */
  appUrl: string;
  log: Log;
};

/** Signing up, in and out, passwords, second factors and addresses: see `auth/auth.ts`. */
export type PageAccounts = {
  scopeOf(method: string, path: string): Scope | null;
  call(request: AccountCall): Promise<AccountCallResult>;
};

const SHARED = Symbol.for("tollgate.page-requests");

type Shared = { [SHARED]?: AsyncLocalStorage<PageRequest> };

/**
 * Next.js bundles the pages: modules of theirs are copies of the server's. What both must share is kept where both find it.
 */
export function pageRequests(): AsyncLocalStorage<PageRequest> {
  const shared = globalThis as Shared;
  shared[SHARED] ??= new AsyncLocalStorage();
  return shared[SHARED];
}
