import { EntitlementCache, type EntitlementOptions } from "./entitlements.ts";
import type { TollgateEvent } from "./event.ts";
import { type FollowOptions, followEvents } from "./follow-events.ts";
import { connectionOf, type TollgateOptions } from "./options.ts";
import { readJson } from "./read-json.ts";
import { createRpc, type RpcClient } from "./rpc.ts";
import { type RequestOptions, sendRequest } from "./send-request.ts";
import type { UserRef } from "./shapes.ts";

export type { AppRouter, Reason } from "./app-router.ts";
export type { EntitlementCache, EntitlementOptions } from "./entitlements.ts";
export type { TollgateEvent } from "./event.ts";
export type { FeedState, FollowOptions } from "./follow-events.ts";
export type { TollgateOptions } from "./options.ts";
export type { CallOptions, RpcClient } from "./rpc.ts";
export type { RequestOptions } from "./send-request.ts";
export type { EntitlementCheck, Entitlements, Payment, Subscription, UserRef } from "./shapes.ts";
export { TollgateError } from "./tollgate-error.ts";
export {
  EventVerificationError,
  type VerificationProblem,
  type VerifyOptions,
  verifyEvent,
} from "./verify-event.ts";

export type Usage = { feature: string; amount: number; idempotencyKey: string };

export type Tollgate = {
  /** The procedures of the server's router. With a service key, inputs name the user. Times are `Date`. */
  rpc: RpcClient;
  entitlements: EntitlementCache;
  /** Counts usage of a quota once per `idempotencyKey`. @throws TollgateError `quota_exceeded` */
  recordUsage(user: UserRef, usage: Usage): Promise<{ used: number; remaining: number }>;
  /** Events as they happen, for service keys with `events:read`. */
  events(options?: Omit<FollowOptions, "timing">): AsyncGenerator<TollgateEvent>;
  /** Any route of the REST API, version 2: `request("GET", "/subscriptions", { query: { externalId } })`. */
  request<Body = unknown>(method: string, path: string, options?: RequestOptions): Promise<Body>;
  /** Stops following events. */
  close(): void;
};

/** The client of a Tollgate server. Nothing is sent until something is asked. */
export function createTollgate(options: TollgateOptions & { entitlements?: EntitlementOptions }): Tollgate {
  const connection = connectionOf(options);
  const entitlements = new EntitlementCache(connection, options.entitlements);
  const request = async <Body>(method: string, path: string, settings?: RequestOptions): Promise<Body> => {
    const response = await sendRequest(connection, method, path, settings);
    const isEmpty = method === "HEAD" || response.status === 204;
    return isEmpty ? (undefined as Body) : readJson<Body>(response);
  };
  return {
    rpc: createRpc(connection),
    entitlements,
    recordUsage: async (user, usage) => {
      const { used, remaining } = await request<{ used: number; remaining: number }>("POST", "/usage", {
        body: { ...user, ...usage },
        // The idempotency key makes it so.
        isRepeatable: true,
      });
      entitlements.invalidate(user);
      return { used, remaining };
    },
    events: (settings) => followEvents(connection, settings),
    request,
    close: () => entitlements.close(),
  };
}
