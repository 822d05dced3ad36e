import { afterAll, beforeAll, expect, it } from "vitest";
import {
  type PaymentState,
  paymentStatusOf,
  refundedAmountOf,
} from "../../../src/domain/payments/payment-state.ts";
import type { PaymentApi, PaymentSelection } from "../../../src/domain/providers/payment-api.ts";
import type { WireFormat } from "../../../src/providers/adapter.ts";
import { createPaymentApi } from "../../../src/providers/create-payment-api.ts";
import { type LocalProvider, localProvider } from "./local-provider.ts";
import { KEY } from "./provider-apis.ts";

let provider: LocalProvider;
beforeAll(async () => {
  provider = await localProvider();
});
afterAll(() => provider.close());

const ALL: PaymentSelection = { since: null, providerSubscriptionId: null };
const apiOf = (format: WireFormat): PaymentApi =>
  createPaymentApi({ slot: "provider-a", format, apiKey: KEY, apiUrl: provider.url });

async function listed(format: WireFormat, selection = ALL): Promise<PaymentState[]> {
  const states: PaymentState[] = [];
  for await (const state of apiOf(format).listPayments(selection)) states.push(state);
  return states;
}

/** What is compared of each. */
const facts = (states: readonly PaymentState[]) =>
  states.map((state) => [
    state.charge.id,
    state.isUndecided ? "undecided" : paymentStatusOf(state),
    state.charge.amount,
    state.charge.currency,
    refundedAmountOf(state),
  ]);

const requested = () =>
  provider.requests.map(({ path, query }) => `${path.slice("/provider-a".length)}?${query}`);

const STRIPE_LIST = { object: "list", has_more: false };

function stripeInvoice(id: string, changes: object = {}): object {
  return {
    id,
    object: "invoice",
    status: "paid",
    attempted: true,
    created: 1_772_452_800,
    amount_due: 4_000,
    amount_paid: 4_000,
    currency: "eur",
    customer: "cus_1",
    lines: { data: [{ period: { start: 1_772_452_800, end: 1_775_131_200 } }] },
    parent: { subscription_details: { subscription: "sub_1", metadata: { userId: "user_7" } } },
    payments: { data: [{ payment: { type: "payment_intent", payment_intent: `pi_${id}` } }] },
    ...changes,
  };
}

it("lists Stripe's invoices with their refunds and disputes, page by page", async () => {
  provider.respondWith(({ path, query }, nth) => {
    // Instead of the first page over and over again.
    if (nth > 10) return { status: 404 };
    const of = path.slice("/provider-a/v1/".length);
    const after = query.get("starting_after");
    const refund = (id: string, of: string, amount: number, status = "succeeded") => ({
      id,
      object: "refund",
      status,
      amount,
      payment_intent: `pi_${of}`,
    });
    const dispute = (id: string, of: string, status: string) => ({
      id,
      object: "dispute",
      status,
      amount: 4_000,
      payment_intent: `pi_${of}`,
    });
    const first = { object: "list", has_more: true };
    if (of === "refunds")
      return after === "re_1"
        ? {
            body: {
              ...STRIPE_LIST,
              data: [refund("re_2", "in_3", 500), refund("re_3", "in_1", 9, "failed")],
            },
          }
        : { body: { ...first, data: [refund("re_1", "in_2", 4_000)] } };
    if (of === "disputes")
      return after === "dp_1"
        ? { body: { ...STRIPE_LIST, data: [dispute("dp_2", "in_4", "needs_response")] } }
        : { body: { ...first, data: [dispute("dp_1", "in_1", "won")] } };
    if (after === "in_3")
      return {
        body: {
          ...STRIPE_LIST,
          data: [
            stripeInvoice("in_4"),
            stripeInvoice("in_5", { status: "open", amount_paid: 0 }),
            stripeInvoice("in_6", { status: "draft", attempted: false, amount_paid: 0 }),
          ],
        },
      };
    const data = [stripeInvoice("in_1"), stripeInvoice("in_2"), stripeInvoice("in_3")];
    return { body: { ...first, data } };
  });
  const states = await listed("stripe");
  expect(facts(states)).toEqual([
    ["in_1", "paid", 4_000, "EUR", 0],
    ["in_2", "refunded", 4_000, "EUR", 4_000],
    ["in_3", "partly_refunded", 4_000, "EUR", 500],
    ["in_4", "disputed", 4_000, "EUR", 0],
    ["in_5", "failed", 4_000, "EUR", 0],
    ["in_6", "undecided", 4_000, "EUR", 0],
  ]);
  expect(states[0]).toMatchObject({
    providerSubscriptionId: "sub_1",
    customerId: "cus_1",
    userId: "user_7",
    names: ["in_1", "pi_in_1"],
    charge: {
      periodStart: new Date(1_772_452_800_000),
      periodEnd: new Date(1_775_131_200_000),
      occurredAt: new Date(1_772_452_800_000),
    },
  });
  expect(requested().slice(0, 4)).toEqual([
    "/v1/refunds?limit=100",
    "/v1/refunds?limit=100&starting_after=re_1",
    "/v1/disputes?limit=100",
    "/v1/disputes?limit=100&starting_after=dp_1",
  ]);
  expect(provider.requests[4]?.query.get("expand[0]")).toBe("data.payments");
});

it("asks Stripe for the refunds of one invoice by its payment", async () => {
  provider.respondWith(({ path }) =>
    path.endsWith("/invoices/in_1")
      ? { body: stripeInvoice("in_1") }
      : { body: { ...STRIPE_LIST, data: [] } },
  );
  const state = await apiOf("stripe").fetchPayment("in_1");
  expect(facts([state as PaymentState])).toEqual([["in_1", "paid", 4_000, "EUR", 0]]);
  // Without them Stripe does not say what the refunds name.
  expect(provider.requests[0]?.query.get("expand[0]")).toBe("payments");
  expect(requested().slice(1)).toEqual([
    "/v1/refunds?limit=100&payment_intent=pi_in_1",
    "/v1/disputes?limit=100&payment_intent=pi_in_1",
  ]);
});

it("finds the refunds of Stripe's invoices that have several payments, or a charge without an intent", async () => {
  const invoices = [
    stripeInvoice("in_1", { payments: { data: [{ payment: { type: "charge", charge: "ch_1" } }] } }),
    stripeInvoice("in_2", {
      payments: {
        data: ["pi_failed", "pi_paid"].map((payment_intent) => ({
          payment: { type: "payment_intent", payment_intent },
        })),
      },
    }),
  ];
  const refunds = [
    { id: "re_1", status: "succeeded", amount: 4_000, payment_intent: null, charge: "ch_1" },
    { id: "re_2", status: "succeeded", amount: 500, payment_intent: "pi_paid", charge: "ch_2" },
  ];
  provider.respondWith(({ path, query }) => {
    const name = path.slice("/provider-a/v1/".length);
    const [intent, charge] = [query.get("payment_intent"), query.get("charge")];
    const found = refunds.filter(
      (refund) =>
        (intent === null || refund.payment_intent === intent) &&
        (charge === null || refund.charge === charge),
    );
    const data = name === "refunds" ? found : name === "disputes" ? [] : invoices;
    const one = invoices.find((invoice) => `invoices/${(invoice as { id: string }).id}` === name);
    return { body: one ?? { ...STRIPE_LIST, data } };
  });
  const expected = [
    ["in_1", "refunded", 4_000, "EUR", 4_000],
    ["in_2", "partly_refunded", 4_000, "EUR", 500],
  ];
  const fetched = await Promise.all(["in_1", "in_2"].map((id) => apiOf("stripe").fetchPayment(id)));
  for (const states of [await listed("stripe"), fetched as PaymentState[]]) {
    expect(facts(states)).toEqual(expected);
    expect(states.map(({ names }) => names)).toEqual([
      ["in_1", "ch_1"],
      ["in_2", "pi_failed", "pi_paid"],
    ]);
  }
});

it("takes no payment for unrefunded whose refund or dispute is unreadable", async () => {
  const intact = { id: "re_1", status: "succeeded", amount: 500, payment_intent: "pi_in_2" };
  for (const kind of ["refunds", "disputes"]) {
    for (const amount of [undefined, "4000.5"]) {
      const unreadable = { ...intact, id: "bad", amount, payment_intent: "pi_in_1" };
      provider.respondWith(({ path, query }) => {
        const of = path.slice("/provider-a/v1/".length);
        if (of === "invoices/in_1") return { body: stripeInvoice("in_1") };
        if (of === "invoices")
          return { body: { ...STRIPE_LIST, data: ["in_1", "in_2"].map((id) => stripeInvoice(id)) } };
        const intent = query.get("payment_intent") ?? "";
        const data = [unreadable, intact].filter(({ payment_intent }) => payment_intent.endsWith(intent));
        return { body: { ...STRIPE_LIST, data: of === kind ? data : [] } };
      });
      expect((await listed("stripe")).map(({ charge }) => charge.id)).toEqual(["in_2"]);
      await expect(apiOf("stripe").fetchPayment("in_1")).rejects.toMatchObject({
        failure: "unreadable",
        message: expect.stringContaining("payment in_1 is not as expected"),
      });
    }
  }
  const adjustment = { id: "adj_1", action: "refund", transaction_id: "txn_1", status: "approved" };
  const transactions = [
    paddleTransaction("txn_1", { adjustments: [{ ...adjustment, totals: { total: "4000.5" } }] }),
    paddleTransaction("txn_2", {
      adjustments: [{ ...adjustment, action: "credit", totals: { total: "5" } }],
    }),
  ];
  provider.respondWith(({ path }) => ({
    body: path.endsWith("/txn_1")
      ? { data: transactions[0] }
      : { data: transactions, meta: { pagination: { has_more: false } } },
  }));
  expect((await listed("paddle")).map(({ charge }) => charge.id)).toEqual(["txn_2"]);
  await expect(apiOf("paddle").fetchPayment("txn_1")).rejects.toMatchObject({ failure: "unreadable" });
});

it.each([
  [1_772_452_800, new Date(1_772_452_800_000)],
  [null, null],
])("dates an unpaid invoice of Stripe's by when it was created: %s", async (created, occurredAt) => {
  provider.respondWith(({ path }) =>
    path.endsWith("/invoices/in_1")
      ? { body: stripeInvoice("in_1", { status: "open", created }) }
      : { body: { ...STRIPE_LIST, data: [] } },
  );
  expect((await apiOf("stripe").fetchPayment("in_1"))?.charge).toMatchObject({ occurredAt });
});

function paddleTransaction(id: string, changes: object = {}): object {
  return {
    id,
    status: "completed",
    origin: "subscription_recurring",
    customer_id: "ctm_1",
    subscription_id: "sub_1",
    custom_data: { userId: "user_7" },
    currency_code: "EUR",
    details: { totals: { grand_total: "4000", total: "4000", currency_code: "EUR" } },
    billing_period: { starts_at: "2026-03-02T12:00:00Z", ends_at: "2026-04-02T12:00:00Z" },
    billed_at: "2026-03-02T12:00:01Z",
    created_at: "2026-03-02T11:00:00Z",
    payments: [],
    adjustments: [],
    ...changes,
  };
}

it("lists Paddle's transactions with their adjustments, behind a cursor", async () => {
  const adjustment = (id: string, action: string, total: string, status = "approved") => ({
    id,
    action,
    status,
    transaction_id: "txn",
    totals: { total },
  });
  const pages: Record<string, object[]> = {
    first: [
      paddleTransaction("txn_1"),
      paddleTransaction("txn_2", { adjustments: [adjustment("adj_1", "refund", "4000")] }),
      paddleTransaction("txn_3", {
        adjustments: [adjustment("adj_2", "refund", "500"), adjustment("adj_3", "refund", "9", "rejected")],
      }),
    ],
    txn_3: [
      paddleTransaction("txn_4", { adjustments: [adjustment("adj_4", "chargeback", "4000")] }),
      paddleTransaction("txn_5", { status: "past_due" }),
      paddleTransaction("txn_6", { status: "ready" }),
      paddleTransaction("txn_7", { status: "ready", payments: [{ status: "error" }] }),
      paddleTransaction("txn_8", { status: "paid" }),
    ],
  };
  provider.respondWith(({ query }) => {
    const after = query.get("after") ?? "first";
    return { body: { data: pages[after], meta: { pagination: { has_more: after === "first" } } } };
  });
  const since = new Date("2026-03-01T00:00:00Z");
  const states = await listed("paddle", { since, providerSubscriptionId: "sub_1" });
  expect(facts(states)).toEqual([
    ["txn_1", "paid", 4_000, "EUR", 0],
    ["txn_2", "refunded", 4_000, "EUR", 4_000],
    ["txn_3", "partly_refunded", 4_000, "EUR", 500],
    ["txn_4", "disputed", 4_000, "EUR", 0],
    ["txn_5", "failed", 4_000, "EUR", 0],
    ["txn_6", "undecided", 4_000, "EUR", 0],
    ["txn_7", "failed", 4_000, "EUR", 0],
    ["txn_8", "undecided", 4_000, "EUR", 0],
  ]);
  expect(states[0]?.charge).toMatchObject({
    periodEnd: new Date("2026-04-02T12:00:00Z"),
    occurredAt: new Date("2026-03-02T12:00:01Z"),
  });
  const query = provider.requests[0]?.query ?? new URLSearchParams();
  expect(Object.fromEntries(query)).toMatchObject({
    include: "adjustments",
    subscription_id: "sub_1",
    "created_at[GTE]": "2026-03-01T00:00:00.000Z",
  });
});

it("counts a second dispute of Paddle's after one that was won", async () => {
  const adjustment = (id: string, action: string, status = "approved") => ({
    id,
    action,
    status,
    transaction_id: "txn_1",
    totals: { total: "4000" },
  });
  const won = [adjustment("adj_1", "chargeback", "reversed"), adjustment("adj_2", "chargeback_reverse")];
  provider.respondWith(() => ({
    body: {
      data: [
        paddleTransaction("txn_1", { adjustments: won }),
        paddleTransaction("txn_2", { adjustments: [...won, adjustment("adj_3", "chargeback")] }),
      ],
      meta: { pagination: { has_more: false } },
    },
  }));
  expect((await listed("paddle")).map(paymentStatusOf)).toEqual(["paid", "disputed"]);
});

function polarOrder(id: string, changes: object = {}): object {
  return {
    id,
    status: "paid",
    total_amount: 4_000,
    refunded_amount: 0,
    refunded_tax_amount: 0,
    currency: "eur",
    created_at: "2026-03-02T12:00:00Z",
    customer_id: "c1",
    subscription_id: "s1",
    subscription: {
      current_period_start: "2026-05-02T12:00:00Z",
      current_period_end: "2026-06-02T12:00:00Z",
    },
    metadata: { userId: "user_7" },
    customer: { external_id: "user_7" },
    ...changes,
  };
}

it("lists Polar's orders with what was refunded, an older one without its subscription's present period", async () => {
  provider.respondWith(({ query }) => ({
    body: {
      items:
        query.get("page") === "1"
          ? [polarOrder("o1"), polarOrder("o2", { status: "refunded", refunded_amount: 3_400 })]
          : [
              polarOrder("o3", {
                status: "partially_refunded",
                refunded_amount: 340,
                refunded_tax_amount: 60,
              }),
              polarOrder("o4", { status: "pending" }),
              polarOrder("o6", { applied_balance_amount: -1_500, due_amount: 2_500 }),
              polarOrder("o5", { total_amount: "a lot" }),
              polarOrder("o7", { created_at: "2026-05-02T12:00:00.1Z" }),
            ],
      pagination: { total_count: 7, max_page: 2 },
    },
  }));
  const states = await listed("polar");
  // An order that cannot be read does not hide the others.
  expect(facts(states)).toEqual([
    ["o1", "paid", 4_000, "EUR", 0],
    ["o2", "refunded", 4_000, "EUR", 4_000],
    ["o3", "partly_refunded", 4_000, "EUR", 400],
    ["o4", "undecided", 4_000, "EUR", 0],
    ["o6", "paid", 2_500, "EUR", 0],
    ["o7", "paid", 4_000, "EUR", 0],
  ]);
  expect(states[0]?.charge).toMatchObject({ periodStart: null, periodEnd: null });
  expect(states.at(-1)?.charge).toMatchObject({
    periodStart: new Date("2026-05-02T12:00:00Z"),
    periodEnd: new Date("2026-06-02T12:00:00Z"),
  });
  expect(requested().filter((request) => request.startsWith("/v1/orders/"))).toHaveLength(2);
});

const polarDispute = (id: string, order_id: string, status: string, created_at: string) => ({
  id,
  order_id,
  status,
  amount: 3_400,
  tax_amount: 600,
  created_at,
  modified_at: null,
});

it("lists Polar's orders that were disputed since, however old they are", async () => {
  const disputes = [
    polarDispute("d1", "o1", "needs_response", "2026-03-05T12:00:00Z"),
    polarDispute("d2", "o2", "won", "2026-03-05T12:00:00Z"),
    polarDispute("d3", "old", "lost", "2026-03-05T12:00:00Z"),
    polarDispute("d4", "older", "lost", "2026-01-05T12:00:00Z"),
    {
      ...polarDispute("d5", "lately", "lost", "2026-01-05T12:00:00Z"),
      modified_at: "2026-03-05T12:00:00Z",
    },
  ];
  const page = (items: object[], max_page = 1) => ({
    body: { items, pagination: { total_count: 9, max_page } },
  });
  provider.respondWith(({ path, query }) => {
    const name = path.slice("/provider-a/v1/".length);
    const of = query.get("order_id");
    if (name === "disputes/") {
      const found = disputes.filter(({ order_id }) => of === null || order_id === of);
      const first = 2 * (Number(query.get("page")) - 1);
      return page(found.slice(first, first + 2), Math.ceil(found.length / 2));
    }
    if (name === "orders/") return page([polarOrder("o1"), polarOrder("o2")]);
    return { body: polarOrder(name.slice("orders/".length)) };
  });
  const states = await listed("polar", { ...ALL, since: new Date("2026-03-01T00:00:00Z") });
  expect(facts(states)).toEqual([
    ["o1", "disputed", 4_000, "EUR", 0],
    ["o2", "paid", 4_000, "EUR", 0],
    ["old", "disputed", 4_000, "EUR", 0],
    ["lately", "disputed", 4_000, "EUR", 0],
  ]);
  expect(states[0]).toMatchObject({
    reversals: [{ id: "d1", of: "o1", kind: "dispute", amount: 4_000 }],
    hasUnknownDisputes: false,
  });
  const fetched = await apiOf("polar").fetchPayment("o2");
  expect(fetched?.reversals).toEqual([{ id: "d2", of: "o2", kind: "dispute", amount: 0 }]);
});

it.each([true, false])(
  "lists Polar's orders that were refunded since, however old they are, if the key may: %s",
  async (mayRead) => {
    const refund = (id: string, order_id: string, created_at: string | null) => ({
      id,
      order_id,
      created_at,
    });
    const pages = [
      [refund("r1", "o1", "2026-03-05T12:00:00Z"), refund("r2", "old", "2026-03-04T12:00:00Z")],
      // Nothing says that the first one is older.
      [refund("r3", "undated", null), refund("r4", "older", "2026-01-05T12:00:00Z")],
      [refund("r5", "oldest", "2026-01-04T12:00:00Z")],
    ];
    const page = (items: object[], max_page = 1) => ({
      body: { items, pagination: { total_count: 9, max_page } },
    });
    provider.respondWith(({ path, query }) => {
      const name = path.slice("/provider-a/v1/".length);
      if (name === "refunds/")
        return mayRead
          ? page(pages[Number(query.get("page")) - 1] ?? [], pages.length)
          : { status: 403, body: { error: "insufficient_scope", detail: "Not permitted" } };
      if (name === "disputes/") return page([]);
      const refunded = { status: "refunded", refunded_amount: 4_000 };
      if (name === "orders/") return page([polarOrder("o1", refunded)]);
      return { body: polarOrder(name.slice("orders/".length), refunded) };
    });
    const states = await listed("polar", { ...ALL, since: new Date("2026-03-01T00:00:00Z") });
    const older = mayRead ? ["old", "undated"] : [];
    expect(facts(states)).toEqual(["o1", ...older].map((id) => [id, "refunded", 4_000, "EUR", 4_000]));
    const lists = requested().filter((request) => request.startsWith("/v1/refunds/"));
    expect(lists).toHaveLength(mayRead ? 2 : 1);
  },
);

it("takes no order of Polar's for undisputed while its disputes cannot be listed", async () => {
  provider.respondWith(({ path }) =>
    path.includes("/disputes/")
      ? { status: 400, body: { error: "PolarRequestError", detail: "Not now" } }
      : { body: { items: [polarOrder("o1")], pagination: { total_count: 1, max_page: 1 } } },
  );
  await expect(listed("polar")).rejects.toMatchObject({ failure: "rejected" });
});

it("takes no order of Polar's for undisputed when a dispute names no amount", async () => {
  const dispute = polarDispute("d1", "o1", "lost", "2026-03-05T12:00:00Z");
  for (const amount of [undefined, "4000.5"]) {
    provider.respondWith(({ path }) => ({
      body: {
        ...polarOrder("o1"),
        items: path.includes("/disputes/") ? [{ ...dispute, amount }] : [polarOrder("o1"), polarOrder("o2")],
        pagination: { total_count: 1, max_page: 1 },
      },
    }));
    expect((await listed("polar")).map(({ charge }) => charge.id)).toEqual(["o2"]);
    await expect(apiOf("polar").fetchPayment("o1")).rejects.toMatchObject({ failure: "unreadable" });
  }
});

it("lists Polar's orders with a key that may not read disputes", async () => {
  provider.respondWith(({ path }) =>
    path.includes("/disputes/")
      ? { status: 403, body: { error: "insufficient_scope", detail: "Not permitted" } }
      : { body: { items: [polarOrder("o1")], pagination: { total_count: 1, max_page: 1 } } },
  );
  const states = await listed("polar");
  expect(facts(states)).toEqual([["o1", "paid", 4_000, "EUR", 0]]);
  expect(states).toMatchObject([{ hasUnknownDisputes: true }]);
});

function squeezyItem(type: string, id: string, attributes: object): object {
  return {
    type,
    id,
    attributes: {
      customer_id: 5,
      currency: "EUR",
      total: 4_000,
      status: "paid",
      refunded: false,
      created_at: "2026-03-02T12:00:00Z",
      updated_at: "2026-03-02T12:00:00Z",
      urls: {},
      ...attributes,
    },
  };
}

it("lists Lemon Squeezy's invoices and refunded orders, no further back than asked unless refunded since", async () => {
  const invoice = (id: string, attributes: object) =>
    squeezyItem("subscription-invoices", id, { subscription_id: 9, ...attributes });
  const old = { created_at: "2026-01-02T12:00:00Z", updated_at: "2026-01-02T12:00:00Z" };
  const refunded = { status: "refunded", refunded: true, refunded_amount: 4_000, ...old };
  const ofStatus: Record<string, object[]> = {
    refunded: [
      invoice("6", { ...refunded, updated_at: "2026-03-02T12:00:00Z" }),
      invoice("7", refunded),
      invoice("8", { ...refunded, refunded_at: "2026-03-02T12:00:00Z" }),
      // Nothing says that it was refunded earlier.
      invoice("9", { ...refunded, updated_at: null }),
    ],
    partial_refund: [
      invoice("2", { status: "partial_refund", refunded_amount: 500 }),
      invoice("10", { status: "partial_refund", refunded_amount: 500, created_at: old.created_at }),
    ],
  };
  provider.respondWith(({ path, query }) => {
    const status = query.get("filter[status]");
    if (status !== null) return { body: { data: ofStatus[status], meta: { page: { lastPage: 1 } } } };
    const data = path.endsWith("/orders")
      ? [
          squeezyItem("orders", "1", { status: "refunded", refunded: true, refunded_amount: 4_000 }),
          squeezyItem("orders", "2", { refunded_amount: 0 }),
        ]
      : query.get("page[number]") === "1"
        ? [
            // Nothing says that it is older.
            invoice("1", { created_at: null }),
            invoice("2", { status: "partial_refund", refunded_amount: 500 }),
            invoice("3", { status: "pending" }),
            invoice("4", old),
          ]
        : [invoice("5", old)];
    return { body: { data, meta: { page: { lastPage: path.endsWith("/orders") ? 1 : 2 } } } };
  });
  const since = new Date("2026-03-01T00:00:00Z");
  expect(facts(await listed("lemon-squeezy", { since, providerSubscriptionId: null }))).toEqual([
    ["1", "paid", 4_000, "EUR", 0],
    ["2", "partly_refunded", 4_000, "EUR", 500],
    ["3", "undecided", 4_000, "EUR", 0],
    ["6", "refunded", 4_000, "EUR", 4_000],
    ["8", "refunded", 4_000, "EUR", 4_000],
    ["9", "refunded", 4_000, "EUR", 4_000],
    ["10", "partly_refunded", 4_000, "EUR", 500],
    ["order_1", "refunded", 4_000, "EUR", 4_000],
  ]);
  expect(requested()).toHaveLength(4);
  expect(facts(await listed("lemon-squeezy"))).toHaveLength(6);
});

it.each([
  ["stripe", "/v1/invoices/x_1"],
  ["paddle", "/transactions/x_1"],
  ["polar", "/v1/orders/x_1"],
  ["lemon-squeezy", "/v1/subscription-invoices/x_1"],
])("returns null for a payment that %s does not know", async (format, path) => {
  const missing = {
    error: { code: "not_found", message: "no such", detail: "no such", type: "request_error" },
    detail: "no such",
    errors: [{ detail: "no such", status: "404" }],
  };
  const ofFormat: Record<string, object> = {
    stripe: {
      error: { code: "resource_missing", message: "No such invoice", type: "invalid_request_error" },
    },
    polar: { error: "ResourceNotFound", detail: "Not found" },
  };
  provider.respondWith(() => ({ status: 404, body: ofFormat[format] ?? missing }));
  expect(await apiOf(format).fetchPayment("x_1")).toBeNull();
  expect(requested()[0]).toContain(path);
});

it("fetches a refunded order of Lemon Squeezy's as an order", async () => {
  const attributes = { status: "refunded", refunded: true };
  provider.respondWith(() => ({ body: { data: squeezyItem("orders", "7", attributes) } }));
  const state = (await apiOf("lemon-squeezy").fetchPayment("order_7")) as PaymentState;
  expect(facts([state])).toEqual([["order_7", "refunded", 4_000, "EUR", 4_000]]);
  expect(requested()[0]).toContain("/v1/orders/7");
});
