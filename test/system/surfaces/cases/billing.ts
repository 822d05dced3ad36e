import { bad, type Case, noSuch, PAGES, UNHEARD_OF, WITHOUT_INPUT } from "../case.ts";
import { ADMINISTRATORS, ANYONE, administrators, OWNER, PEOPLE, people } from "../who.ts";

export const BILLING: Record<string, Case> = {
  "plans.list": { scope: "api", may: ANYONE, asks: PAGES },
  "plans.features": { scope: "api", may: ANYONE, asks: WITHOUT_INPUT },

  "billing.createCheckout": {
    scope: "billing",
    may: people("unavailable"),
    writes: true,
    asks: [
      { input: { planId: "team", seats: 5, provider: "provider-b" } },
      bad({ planId: "gold" }),
      bad({ planId: "free" }),
      bad({ planId: "pro", seats: 6 }),
      bad({ planId: "pro", seats: 1.5 }),
      bad({ planId: "pro", provider: "provider-d" }),
      bad({}),
    ],
  },
  "billing.openPortal": {
    scope: "billing",
    may: { ...people("unavailable"), key: "forbidden", adminKey: "forbidden" },
    writes: true,
    asks: [...WITHOUT_INPUT, bad({ subscriptionId: "1" })],
  },

  "subscriptions.list": { scope: "api", may: PEOPLE, asks: PAGES },
  "subscriptions.show": {
    scope: "api",
    may: OWNER,
    asks: [{ input: ({ subscriptionId }) => ({ id: subscriptionId }) }, noSuch("id"), bad({ id: "1" })],
  },
  "subscriptions.history": {
    scope: "api",
    may: { ...OWNER, admin: "ok" },
    asks: [
      { input: ({ subscriptionId }) => ({ id: subscriptionId, limit: 1 }) },
      noSuch("id"),
      bad({ id: "1" }),
      bad({ id: "00000000-0000-4000-8000-000000000000", limit: 0 }),
    ],
  },
  "subscriptions.outOfOrder": {
    scope: "admin",
    may: ADMINISTRATORS,
    asks: [
      { input: { limit: 100 } },
      { input: {} },
      bad({ limit: 0 }),
      bad({ cursor: "no cursor" }),
      UNHEARD_OF,
    ],
  },
  "subscriptions.current": { scope: "api", may: PEOPLE, asks: WITHOUT_INPUT },
  "subscriptions.reconcile": {
    scope: "admin",
    may: administrators("unavailable"),
    writes: true,
    asks: [{ input: ({ subscriptionId }) => ({ id: subscriptionId }) }, noSuch("id"), bad({ id: "1" })],
  },

  "webhooks.list": {
    scope: "admin",
    may: ADMINISTRATORS,
    asks: [
      { input: { limit: 1 } },
      {
        input: { limit: 3, provider: "provider-a", status: "failed", type: "customer.subscription.created" },
      },
      { input: ({ subscriptionId }) => ({ subscriptionId }) },
      { input: ({ people: { owner } }) => ({ eventId: owner.id.replace("owner", "successful") }) },
      bad({ eventId: "" }),
      bad({ subscriptionId: "1" }),
      bad({ limit: 0 }),
      bad({ cursor: "no cursor" }),
      bad({ type: "" }),
      bad({ status: "open" }),
      bad({ provider: "stripe" }),
      UNHEARD_OF,
    ],
  },
  "webhooks.statistics": {
    scope: "api",
    may: ADMINISTRATORS,
    asks: [{ input: {} }, { input: { provider: "provider-a" } }, bad({ provider: "stripe" }), UNHEARD_OF],
  },
  "webhooks.show": {
    scope: "admin",
    may: ADMINISTRATORS,
    asks: [
      { input: ({ failed }) => ({ id: failed }) },
      { input: { id: "999999999999" }, refused: "not_found" },
      bad({ id: "x" }),
    ],
  },
  "webhooks.replay": {
    scope: "admin",
    may: ADMINISTRATORS,
    writes: true,
    asks: [
      {
        input: ({ failed }) => ({ id: failed }),
        leaves: () => ({ deliveries: [{ claim_no: 1 }, { status: "successful", claim_no: 2 }] }),
      },
      {
        input: ({ applied }) => ({ id: applied, force: true }),
        leaves: () => ({ deliveries: [{ status: "successful", claim_no: 2 }, { claim_no: 1 }] }),
      },
      { input: ({ applied }) => ({ id: applied }), refused: "conflict" },
      { input: { id: "999999999999" }, refused: "not_found" },
      bad({ id: "x" }),
    ],
  },
};
