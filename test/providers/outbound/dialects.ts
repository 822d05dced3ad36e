import type { CheckoutOrder } from "../../../src/domain/payment-api.ts";
import type { WireFormat } from "../../../src/providers/adapter.ts";
import { loadFixture } from "../../fixtures/fixture.ts";
import type { Reply } from "./local-provider.ts";

export const KEY = "key_0123456789abcdef";

export const ORDER: CheckoutOrder = {
  idempotencyKey: "checkout-1",
  priceId: "21",
  seats: 3,
  userId: "user_7",
  planId: "pro",
  email: "ada+shop@example.com",
  isEmailConfirmed: true,
  customerId: null,
  successUrl: "https://app.example.com/billing?done=1",
  cancelUrl: "https://app.example.com/pricing",
};

/** What the shared contract has to know of a provider's API: where things are, and how answers look. */
export type Dialect = {
  format: WireFormat;
  name: string;
  subscriptionId: string;
  customerId: string;
  checkoutPath: string;
  checkoutUrl: string;
  subscriptionPath: string;
  /** Method and path. */
  cancel: [string, string];
  pricePath: string;
  /** The answer for a price that is sold no more; `null`: there is no telling. */
  retiredPrice: object | null;
  /** Whether a checkout is asked for again after an answer that leaves open whether there is one. */
  repeatsCheckouts: boolean;
  /** The answers to everything that is asked for with success, by method and path. */
  happy: Record<string, object>;
  /** A subscription, as a request for it is answered. */
  subscription(delivery: string): object;
  /** An error in the provider's own form. */
  refusal(words: string, code?: string): object;
  missing: object;
  alreadyOver: { status: number; body: object };
};

/** Of an API's answer nothing is lost that we do not know, and nothing goes wrong for it. */
const NEWS = { a_field_of_tomorrow: { nested: [1, "two", null] }, status_of_tomorrow: "unheard_of" };

function dataOf(format: WireFormat, delivery: string): object {
  const { body } = loadFixture(format, delivery);
  const data = body.data as Record<string, unknown>;
  return { ...((format === "stripe" ? data.object : data) as object), ...NEWS };
}

const STRIPE_SESSION = {
  id: "cs_test_a1",
  object: "checkout.session",
  expires_at: 1_772_452_800,
  mode: "subscription",
  payment_status: "unpaid",
  status: "open",
  // Longer than ids may be: Stripe's are.
  url: `https://checkout.stripe.example/c/pay/cs_test_a1#${"fid".repeat(150)}`,
  ...NEWS,
};

const stripeError = (message: string, code?: string) => ({
  error: {
    type: "invalid_request_error",
    message,
    ...(code ? { code } : {}),
    doc_url: "https://docs.example",
  },
});

const paddleError = (detail: string, code = "bad_request") => ({
  error: { type: "request_error", code, detail, documentation_url: "https://developer.example" },
  meta: { request_id: "00000000-0000-0000-0000-000000000000" },
});

const squeezyError = (detail: string) => ({
  jsonapi: { version: "1.0" },
  errors: [{ detail, status: "400", title: "Bad Request" }],
});

const POLAR_ID = "00000000-0000-4000-8000-000000000000";
const POLAR_CUSTOMER = "00000000-0000-4000-8000-000000000010";

export const DIALECTS: readonly Dialect[] = [
  {
    format: "stripe",
    name: "Stripe",
    subscriptionId: "sub_0",
    customerId: "cus_0",
    checkoutPath: "/provider-a/v1/checkout/sessions",
    checkoutUrl: STRIPE_SESSION.url,
    subscriptionPath: "/provider-a/v1/subscriptions/sub_0",
    cancel: ["DELETE", "/provider-a/v1/subscriptions/sub_0"],
    pricePath: "/provider-a/v1/prices/21",
    retiredPrice: { id: "21", object: "price", active: false },
    repeatsCheckouts: true,
    happy: {
      "POST /provider-a/v1/checkout/sessions": STRIPE_SESSION,
      "POST /provider-a/v1/billing_portal/sessions": { id: "bps_1", url: "https://portal.example/stripe" },
      "GET /provider-a/v1/subscriptions/sub_0": dataOf("stripe", "customer.subscription.updated"),
      "DELETE /provider-a/v1/subscriptions/sub_0": dataOf("stripe", "customer.subscription.deleted"),
    },
    subscription: (delivery) => dataOf("stripe", delivery),
    refusal: stripeError,
    missing: stripeError("No such subscription: 'sub_0'", "resource_missing"),
    alreadyOver: { status: 400, body: stripeError("This subscription is over.") },
  },
  {
    format: "paddle",
    name: "Paddle",
    subscriptionId: "sub_0",
    customerId: "ctm_0",
    checkoutPath: "/provider-a/transactions",
    checkoutUrl: "https://app.example.com/pay?_ptxn=txn_1",
    subscriptionPath: "/provider-a/subscriptions/sub_0",
    cancel: ["POST", "/provider-a/subscriptions/sub_0/cancel"],
    pricePath: "/provider-a/prices/21",
    retiredPrice: { data: { id: "21", status: "archived" } },
    repeatsCheckouts: false,
    happy: {
      "GET /provider-a/customers": { data: [{ id: "ctm_0", email: ORDER.email, ...NEWS }], meta: {} },
      "POST /provider-a/transactions": {
        data: {
          id: "txn_1",
          status: "draft",
          checkout: { url: "https://app.example.com/pay?_ptxn=txn_1" },
          ...NEWS,
        },
        meta: { request_id: "1" },
      },
      "POST /provider-a/customers/ctm_0/portal-sessions": {
        data: {
          id: "cpls_1",
          urls: { general: { overview: "https://portal.example/paddle" }, subscriptions: [] },
        },
      },
      "GET /provider-a/subscriptions/sub_0": { data: dataOf("paddle", "subscription.updated"), meta: {} },
      "POST /provider-a/subscriptions/sub_0/cancel": {
        data: dataOf("paddle", "subscription.canceled"),
        meta: {},
      },
    },
    subscription: (delivery) => ({ data: dataOf("paddle", delivery), meta: { request_id: "1" } }),
    refusal: paddleError,
    missing: paddleError("Entity sub_0 not found", "not_found"),
    alreadyOver: {
      status: 400,
      body: paddleError(
        "action can't be performed on canceled subscription",
        "subscription_is_canceled_action_invalid",
      ),
    },
  },
  {
    format: "polar",
    name: "Polar",
    subscriptionId: POLAR_ID,
    customerId: POLAR_CUSTOMER,
    checkoutPath: "/provider-a/v1/checkouts/",
    checkoutUrl: "https://polar.example/checkout/polar_c_1",
    subscriptionPath: `/provider-a/v1/subscriptions/${POLAR_ID}`,
    cancel: ["DELETE", `/provider-a/v1/subscriptions/${POLAR_ID}`],
    pricePath: "/provider-a/v1/products/21",
    retiredPrice: { id: "21", is_archived: true },
    repeatsCheckouts: false,
    happy: {
      "POST /provider-a/v1/checkouts/": {
        id: "00000000-0000-4000-8000-000000000030",
        status: "open",
        url: "https://polar.example/checkout/polar_c_1",
        expires_at: "2026-03-02T12:00:00.123456Z",
        ...NEWS,
      },
      "POST /provider-a/v1/customer-sessions/": {
        token: "polar_cst_1",
        customer_portal_url: "https://portal.example/polar",
        ...NEWS,
      },
      [`GET /provider-a/v1/subscriptions/${POLAR_ID}`]: dataOf("polar", "subscription.updated"),
      [`DELETE /provider-a/v1/subscriptions/${POLAR_ID}`]: dataOf("polar", "subscription.revoked"),
    },
    subscription: (delivery) => ({ ...dataOf("polar", delivery) }),
    refusal: (detail, error = "PolarRequestError") => ({ error, detail }),
    missing: { error: "ResourceNotFound", detail: "Not found" },
    alreadyOver: {
      status: 403,
      body: {
        error: "AlreadyCanceledSubscription",
        detail: "This subscription is already canceled or will be at the end of the period.",
      },
    },
  },
  {
    format: "lemon-squeezy",
    name: "Lemon Squeezy",
    subscriptionId: "50",
    customerId: "10",
    checkoutPath: "/provider-a/v1/checkouts",
    checkoutUrl: "https://store-0.lemonsqueezy.example/checkout/custom/1?signature=0",
    subscriptionPath: "/provider-a/v1/subscriptions/50",
    cancel: ["DELETE", "/provider-a/v1/subscriptions/50"],
    pricePath: "/provider-a/v1/variants/21",
    retiredPrice: null,
    repeatsCheckouts: false,
    happy: {
      "GET /provider-a/v1/stores": { data: [{ type: "stores", id: "1", attributes: { name: "Store" } }] },
      "POST /provider-a/v1/checkouts": {
        data: {
          type: "checkouts",
          id: "5e8b546c-c561-4a2c-a586-40c18bb2a195",
          attributes: {
            url: "https://store-0.lemonsqueezy.example/checkout/custom/1?signature=0",
            expires_at: null,
            ...NEWS,
          },
        },
      },
      "GET /provider-a/v1/customers/10": {
        data: {
          type: "customers",
          id: "10",
          attributes: { urls: { customer_portal: "https://portal.example/squeezy" } },
        },
      },
      "GET /provider-a/v1/subscriptions/50": { data: dataOf("lemon-squeezy", "subscription_updated") },
      "DELETE /provider-a/v1/subscriptions/50": { data: dataOf("lemon-squeezy", "subscription_cancelled") },
    },
    subscription: (delivery) => ({ jsonapi: { version: "1.0" }, data: dataOf("lemon-squeezy", delivery) }),
    refusal: squeezyError,
    missing: {
      errors: [{ detail: "The requested resource does not exist.", status: "404", title: "Not Found" }],
    },
    alreadyOver: { status: 422, body: squeezyError("The subscription is already cancelled.") },
  },
];

export function dialectOf(format: WireFormat): Dialect {
  return DIALECTS.find((one) => one.format === format) as Dialect;
}

/** As the provider answers when all goes well. */
export function happily({ happy }: Dialect) {
  return ({ method, path }: { method: string; path: string }): Reply => {
    const body = happy[`${method} ${path}`];
    return body ? { body } : { status: 418, body: { unexpected: `${method} ${path}` } };
  };
}
