import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { startHttpServer } from "./http.ts";

type OpenedSession = { id: string; key: string; url: string; params: URLSearchParams };

/** Runs before a call is answered: may wait, or return a response in place of the usual one. */
type Interference = (call: {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
}) => Promise<{ status: number; body?: object; headers?: Record<string, string> } | undefined>;

export type StripeServer = {
  url: string;
  /** Every call so far, such as `GET /v1/events`. */
  calls: string[];
  /** One per idempotency key. */
  sessions: OpenedSession[];
  /** The ids of sessions that were closed before they were paid. */
  expired: string[];
  portals: URLSearchParams[];
  /** Those that were created through the API. */
  customers: { id: string; email: string | null; metadata: { userId: string | null } }[];
  canceled: string[];
  /** By id, as Stripe's API shows them. */
  subscriptions: Map<string, object>;

  /** The events that it lists as sent, oldest first. */
  events: { id: string; type: string; created: number }[];
  prices: Set<string>;
  key: string;
  /** For how long a checkout can be paid. */
  sessionSeconds: number;
  /** The sessions that are paid, and the subscription that each has made. */
  paid: Map<string, string>;
  interfere(with_: Interference | null): void;
  close(): Promise<void>;
};

export const STRIPE_KEY = "sk_test_of_a_server_that_is_none";

/** A server with the part of Stripe's API that the product calls, on a free port. */
export async function stripeServer(): Promise<StripeServer> {
  let interference: Interference | null = null;
  const stripe: Omit<StripeServer, "url" | "close"> = {
    calls: [],
    sessions: [],
    expired: [],
    portals: [],

    canceled: [],
    subscriptions: new Map(),
    customers: [],
    events: [],
    prices: new Set(["price_pro_monthly", "price_pro_yearly", "price_team_monthly", "price_team_yearly"]),
    key: STRIPE_KEY,
    sessionSeconds: 24 * 60 * 60,
    paid: new Map(),
    interfere: (replacement) => {
      interference = replacement;
    },
  };
  const server = await startHttpServer(async (incoming, outgoing) => {
    const answer = (status: number, body: object, headers: Record<string, string> = {}) =>
      outgoing
        .writeHead(status, { "content-type": "application/json", ...headers })
        .end(JSON.stringify(body));
    const { method = "", url = "" } = incoming;
    const { pathname, searchParams } = new URL(url, "http://stripe");
    const body = new URLSearchParams(await text(incoming));
    stripe.calls.push(`${method} ${pathname}`);
    const interfered = await interference?.({ method, path: pathname, headers: incoming.headers });
    if (interfered) {
      return answer(
        interfered.status,
        interfered.body ?? { error: { message: "as the test has it" } },
        interfered.headers,
      );
    }
    if (incoming.headers.authorization !== `Bearer ${stripe.key}`) {
      return answer(401, { error: { message: "Invalid API Key provided", type: "invalid_request_error" } });
    }
    const [status, response] = answerTo(stripe, { method, pathname, searchParams, body, incoming });
    return answer(status, response);
  });
  return Object.assign(stripe, server);
}

type Call = {
  method: string;
  pathname: string;
  searchParams: URLSearchParams;
  body: URLSearchParams;
  incoming: IncomingMessage;
};

function answerTo(stripe: Omit<StripeServer, "url" | "close">, call: Call): [number, object] {
  const { method, pathname, searchParams, body, incoming } = call;
  const id = pathname.split("/")[3] ?? "";
  switch (`${method} ${pathname.split("/").slice(0, 3).join("/")}`) {
    case "POST /v1/checkout":
      if (pathname.endsWith("/expire")) {
        if (stripe.paid.has(pathname.split("/")[4] ?? "")) {
          return [400, { error: { type: "invalid_request_error", message: "This session is complete." } }];
        }
        stripe.expired.push(pathname.split("/")[4] ?? "");
        return [200, { id: pathname.split("/")[4], object: "checkout.session", status: "expired" }];
      }
      return opened(stripe, String(incoming.headers["idempotency-key"]), body);
    case "GET /v1/checkout": {
      const session = pathname.split("/")[4] ?? "";
      const subscription = stripe.paid.get(session) ?? null;
      const status = subscription ? "complete" : stripe.expired.includes(session) ? "expired" : "open";
      return [200, { id: session, object: "checkout.session", status, subscription }];
    }
    case "GET /v1/customers": {
      if (id !== "") return [200, { id, object: "customer", metadata: {} }];
      const email = searchParams.get("email");
      return [200, listOf(stripe.customers.filter((customer) => email === null || customer.email === email))];
    }
    case "POST /v1/customers": {
      const customer = {
        id: `cus_made_${stripe.customers.length + 1}`,
        object: "customer",
        email: body.get("email"),
        metadata: { userId: body.get("metadata[userId]") },
      };
      stripe.customers.push(customer);
      return [200, customer];
    }
    case "POST /v1/billing_portal":
      stripe.portals.push(body);
      return [200, { id: "bps_1", object: "billing_portal.session", url: "https://billing.example.com/p/1" }];
    case "GET /v1/subscriptions":
      if (id === "") return [200, listOf(subscriptionsOf(stripe, searchParams.get("customer")))];
      return [stripe.subscriptions.has(id) ? 200 : 404, stripe.subscriptions.get(id) ?? missing(id)];
    case "DELETE /v1/subscriptions":
      stripe.canceled.push(id);
      return stripe.subscriptions.has(id)
        ? [200, { ...stripe.subscriptions.get(id), status: "canceled" }]
        : [404, missing(id)];
    case "GET /v1/events": {
      const since = Number(searchParams.get("created[gte]") ?? 0);
      const data = stripe.events.filter((event) => event.created >= since).reverse();
      return [200, { object: "list", data, has_more: false, url: "/v1/events" }];
    }
    case "GET /v1/prices":
      return stripe.prices.has(id) ? [200, { id, object: "price", active: true }] : [404, missing(id)];
    default:
      return [200, { object: "list", data: [], has_more: false }];
  }
}

function opened(
  stripe: Pick<StripeServer, "sessions" | "sessionSeconds">,
  key: string,
  params: URLSearchParams,
): [number, object] {
  const existing = stripe.sessions.find((session) => session.key === key);
  const n = stripe.sessions.length + 1;
  const session = existing ?? { id: `cs_${n}`, key, url: `https://checkout.example.com/c/${n}`, params };
  if (!existing) stripe.sessions.push(session);
  const expires_at = Math.floor(Date.now() / 1000) + stripe.sessionSeconds;
  return [200, { object: "checkout.session", id: session.id, url: session.url, expires_at }];
}

function listOf(data: readonly object[]): object {
  return { object: "list", data, has_more: false, url: "/v1/subscriptions" };
}

function missing(id: string): object {
  return {
    error: { code: "resource_missing", message: `No such object: ${id}`, type: "invalid_request_error" },
  };
}

function subscriptionsOf({ subscriptions }: Pick<StripeServer, "subscriptions">, customer: string | null) {
  const all = [...subscriptions.values()] as { customer?: string }[];
  return customer === null ? all : all.filter((item) => item.customer === customer);
}
