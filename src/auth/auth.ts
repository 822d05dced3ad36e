import type { AccountCall, AccountCallResult } from "../domain/callers/account-call.ts";
import type { Caller } from "../domain/callers/caller.ts";
import type { DocumentedAuthRoute } from "../domain/callers/documented-route.ts";
import type { AuthenticateLink } from "./plugin-link.ts";
import type { AuthScope } from "./routes/route-list.ts";

/** The parts of a request that identify its sender. */
export type Credentials = {
  /** A header's value, by its name in lower case, as Node joins it. */
  header(name: string): string | undefined;
  /** The client's address, which limits count by when there is no session. */
  address: string;
  /** For pages: a key identifies nobody, and the cookie that is sent with it does not either. */
  sessionsOnly?: boolean;
};

export type IdentifiedCaller = {
  caller: Caller;
  /** Each sent as its own `Set-Cookie` header: the cookies of a refreshed session. */
  setCookies: readonly string[];
};

export type Auth = {
  /**
   * Identifies the caller by API key when one is presented, else by the session cookie.
   * @throws Refusal `unauthorized`, the same for every invalid key; DatabaseUnavailable
   */
  identify(credentials: Credentials): Promise<IdentifiedCaller>;
  /** The owner of a plugin's secret link. @throws DatabaseUnavailable */
  authenticateLink: AuthenticateLink;
  /**
   * The scope that a request below `/api/auth` is charged to, by the client's address, `api` by the user; `null`: not limited.
   */
  scopeOf(method: string, path: string): AuthScope | null;
  /** Every route below `/api/auth`, for the document of the API. */
  documentedRoutes(): DocumentedAuthRoute[];
  /**
   * Handles a request below `/api/auth` that has been charged. Its path has no version prefix.
   * @param address the client's; stored with the session
   * @throws only what reading the request's body throws
   */
  handle(request: Request, address: string): Promise<Response>;
  /**
   * The same for a server action of our pages, whose origin has been checked.
   * @param request `path` is below `/api/auth`; `header` reads the page's request
   */
  call(request: AccountCall): Promise<AccountCallResult>;
  /**
   * Notifies the owners of API keys that expire soon, and administrators of service keys; returns how many, at
   * most a thousand of each. @throws DatabaseUnavailable
   */
  notifyExpiringKeys(): Promise<number>;
  /**
   * Deletes expired sessions and links, at most a thousand of each, and returns how many. @throws
   * DatabaseUnavailable
   */
  deleteExpired(): Promise<number>;
  /** Whether another mail with notifications may go to this address; counts it if so. @throws DatabaseUnavailable */
  mayMailNotifications(email: string): Promise<boolean>;
  /** Queues mails about changes of accounts that have not been sent yet. @throws DatabaseUnavailable */
  sendDueNotices(): Promise<void>;
  /** Resolves when no background write is under way. */
  idle(): Promise<void>;
};
