import { describe, expect, it } from "vitest";
import { ADAPTERS } from "../../src/providers/registry.ts";
import { hasWord, PAYMENT_FORMATS, paymentEvents, paymentIdOf } from "../fixtures/payments.ts";

const AT = new Date("2026-02-01T10:00:00Z");
const FACTS = { key: "k", subscriptionId: "81", customerId: "77", userId: "user_3", amount: 4_900 };

const read = (format: (typeof PAYMENT_FORMATS)[number], word: Parameters<typeof paymentEvents>[1]) =>
  paymentEvents(format, word, FACTS, AT).map(({ body, eventType }) =>
    ADAPTERS.of(format).interpret(eventType, body),
  );

describe.each(PAYMENT_FORMATS)("payments in %s", (format) => {
  it("contain the payment, its time, subscription, user, customer, amount and currency", () => {
    const [event] = read(format, "paid");
    expect(event).toMatchObject({
      kind: "payment",
      occurredAtMicros: AT.getTime() * 1_000,
      userId: "user_3",
      customerId: "77",
      providerSubscriptionId: "81",
      payment: {
        charge: { id: paymentIdOf(format, "k"), state: "paid", amount: 4_900, currency: "EUR" },
      },
    });
  });

  it.runIf(hasWord(format, "failed"))("contain one that has failed", () => {
    const charge = { id: paymentIdOf(format, "k"), state: "failed", amount: 4_900, currency: "EUR" };
    expect(read(format, "failed")[0]).toMatchObject({ kind: "payment", payment: { charge } });
  });

  it("contain how much of one was refunded", () => {
    for (const { kind, occurredAtMicros, payment } of read(format, "partly_refunded")) {
      expect(kind).toBe("payment");
      expect(occurredAtMicros).toBe(AT.getTime() * 1_000);
      expect(payment?.reversal?.amount ?? payment?.charge?.refundedAmount).toBe(1_225);
    }
  });
});

const stripe = (type: string, object: object) =>
  ADAPTERS.of("stripe").interpret(type, { created: 1_770_000_000, data: { object } });

describe("stripe payments", () => {
  it("read subscription and user from invoices before API version 2025-03-31 too", () => {
    const invoice = {
      id: "in_1",
      subscription: "sub_1",
      subscription_details: { metadata: { userId: "user_4" } },
      amount_paid: 100,
      currency: "usd",
      payment_intent: "pi_1",
      charge: "ch_1",
      customer: "cus_1",
    };
    expect(stripe("invoice.paid", invoice)).toMatchObject({
      userId: "user_4",
      providerSubscriptionId: "sub_1",
      payment: { charge: { id: "in_1", currency: "USD" }, names: ["in_1", "pi_1", "ch_1"] },
    });
  });

  it.each([
    ["invoice.paid", { state: "paid", amount: 900, occurredAt: new Date(1_770_000_000_000) }],
    ["invoice.payment_failed", { state: "failed", amount: 1_000, occurredAt: null }],
  ])("are what %s says was paid, or is due", (type, expected) => {
    const invoice = {
      id: "in_1",
      total: 1_100,
      currency: "eur",
      status_transitions: { paid_at: 1_770_000_000 },
    };
    const amounts = { amount_paid: 900, amount_due: 1_000 };
    expect(stripe(type, { ...invoice, ...amounts }).payment?.charge).toMatchObject(expected);
    expect(stripe(type, invoice).payment?.charge?.amount).toBe(1_100);
  });

  it("are for the latest period of an invoice's lines", () => {
    const periods = [{ start: 100, end: 200 }, { start: 500, end: 600 }, {}, { start: 300, end: 400 }];
    const lines = { data: periods.map((period) => ({ period })) };
    const invoice = { id: "in_1", amount_paid: 1, currency: "eur", lines };
    expect(stripe("invoice.paid", invoice).payment?.charge).toMatchObject({
      periodStart: new Date(500_000),
      periodEnd: new Date(600_000),
    });
    expect(stripe("invoice.paid", { ...invoice, lines: {} }).payment?.charge).toMatchObject({
      periodStart: null,
      periodEnd: null,
    });
  });

  it("link an invoice with its payment intent", () => {
    const linked = stripe("invoice_payment.paid", {
      id: "inpay_1",
      invoice: "in_1",
      payment: { type: "payment_intent", payment_intent: "pi_1" },
    });
    expect(linked.payment).toEqual({ charge: null, names: ["in_1", "pi_1"], reversal: null });
  });

  it.each([
    ["refund.created", "pending", 0],
    ["refund.updated", "succeeded", 500],
    ["refund.failed", "failed", 0],
    ["refund.created", null, 500],
    ["charge.dispute.created", "warning_needs_response", 0],
    ["charge.dispute.created", "needs_response", 500],
    ["charge.dispute.created", null, 500],
    ["charge.dispute.updated", "under_review", 500],
    ["charge.dispute.updated", "prevented", 0],
    ["charge.dispute.closed", "lost", 500],
    ["charge.dispute.closed", "won", 0],
  ])("count %s with status %s as %d", (type, status, amount) => {
    const event = stripe(type, { id: "x_1", amount: 500, payment_intent: "pi_1", status });
    expect(event.payment?.reversal).toMatchObject({ id: "x_1", of: "pi_1", amount });
  });

  it("are ignored where an event lacks the id, the amount, the currency or the payment", () => {
    const invoice = { id: "in_1", amount_paid: 100, currency: "eur" };
    const refund = { id: "re_1", amount: 5, charge: "ch_1" };
    expect(stripe("invoice.paid", invoice).kind).toBe("payment");
    expect(stripe("refund.created", refund).kind).toBe("payment");
    for (const field of Object.keys(invoice))
      expect(stripe("invoice.paid", { ...invoice, [field]: null }).kind).toBe("ignored");
    for (const field of Object.keys(refund))
      expect(stripe("refund.created", { ...refund, [field]: null }).kind).toBe("ignored");
  });

  it("take nothing back after all when a refund has failed, whatever it was to be", () => {
    const failed = { id: "re_1", charge: "ch_1", status: "failed" };
    const reversal = { id: "re_1", of: "ch_1", kind: "refund", amount: 0 };
    expect(stripe("refund.failed", failed).payment?.reversal).toEqual(reversal);
  });

  it("keep only receipts that are https links", () => {
    const invoice = (url: string) =>
      stripe("invoice.paid", { id: "in_1", amount_paid: 1, currency: "eur", hosted_invoice_url: url });
    expect(invoice("https://invoice.stripe.com/i/1").payment?.charge?.receiptUrl).toMatch(/^https:/);
    expect(invoice("javascript:alert(1)").payment?.charge?.receiptUrl).toBeNull();
    const link = "https://invoice.stripe.com/i/".padEnd(2_000, "x");
    expect(invoice(link).payment?.charge?.receiptUrl).toBe(link);
    expect(invoice(`${link}x`).payment?.charge?.receiptUrl).toBeNull();
  });
});

describe("paddle adjustments", () => {
  it.each([
    ["refund", "approved", { kind: "refund", amount: 500 }],
    ["refund", "pending_approval", { kind: "refund", amount: 0 }],
    ["refund", "rejected", { kind: "refund", amount: 0 }],
    ["refund", null, { kind: "refund", amount: 500 }],
    ["refund", "reversed", { kind: "refund", amount: 0 }],
    ["chargeback", "approved", { kind: "dispute", amount: 500 }],
    ["chargeback", "reversed", { kind: "dispute", amount: 500 }],
    ["chargeback_reverse", "reversed", { kind: "dispute", amount: -500 }],
    ["chargeback_reverse", "approved", { kind: "dispute", amount: -500 }],
    ["chargeback_reverse", "pending_approval", { kind: "dispute", amount: 0 }],
  ])("read %s, %s", (action, status, reversal) => {
    const data = { id: "adj_1", transaction_id: "txn_1", action, status, totals: { total: "500" } };
    const event = ADAPTERS.of("paddle").interpret("adjustment.updated", { data });
    expect(event.payment?.reversal).toMatchObject({ of: "txn_1", ...reversal });
  });

  it.each(["credit", "credit_reverse", "chargeback_warning", "constructor"])("ignore %s", (action) => {
    const data = { id: "adj_1", transaction_id: "txn_1", action, status: "approved", totals: { total: "5" } };
    expect(ADAPTERS.of("paddle").interpret("adjustment.created", { data }).kind).toBe("ignored");
  });

  it.each(["id", "transaction_id", "totals"])("are ignored without their %s", (field) => {
    const adjustment = { id: "adj_1", transaction_id: "txn_1", action: "refund", totals: { total: "5" } };
    const data = { ...adjustment, [field]: null };
    expect(ADAPTERS.of("paddle").interpret("adjustment.created", { data }).kind).toBe("ignored");
  });

  it("ignore a transaction that only stores another payment method", () => {
    const data = { id: "txn_1", origin: "subscription_payment_method_change", currency_code: "EUR" };
    const totals = { ...data, details: { totals: { grand_total: "0" } } };
    expect(ADAPTERS.of("paddle").interpret("transaction.completed", { data: totals }).kind).toBe("ignored");
  });
});

it.each([
  [
    { grand_total: "1100", total: "1200", currency_code: "USD" },
    { amount: 1_100, currency: "USD" },
  ],
  [{ total: "1200" }, { amount: 1_200, currency: "EUR" }],
])("reads what a transaction of Paddle's was for from %j", (totals, expected) => {
  const data = { id: "txn_1", currency_code: "EUR", details: { totals } };
  const { payment } = ADAPTERS.of("paddle").interpret("transaction.payment_failed", { data });
  expect(payment?.charge).toMatchObject({ state: "failed", ...expected });
});

describe("paddle transactions", () => {
  const charge = (data: object) =>
    ADAPTERS.of("paddle").interpret("transaction.completed", {
      data: {
        id: "txn_1",
        details: { totals: { grand_total: "500", currency_code: "EUR" } },
        created_at: "2026-01-09T10:00:00Z",
        billing_period: { starts_at: "2026-01-01T10:00:00Z", ends_at: "2026-02-01T10:00:00Z" },
        ...data,
      },
    }).payment?.charge;

  it.each([
    ["subscription_recurring", {}, "2026-01-01T10:00:00Z", "2026-02-01T10:00:00Z"],
    ["subscription_update", {}, "2026-01-01T10:00:00Z", "2026-02-01T10:00:00Z"],
    ["subscription_charge", {}, "2026-01-01T10:00:00Z", "2026-01-01T10:00:00Z"],
    ["subscription_charge", { billing_period: null }, "2026-01-09T10:00:00Z", "2026-01-09T10:00:00Z"],
  ])("of the origin %s, with %j, are for the period from %s to %s", (origin, data, start, end) => {
    expect(charge({ origin, ...data })).toMatchObject({
      periodStart: new Date(start),
      periodEnd: new Date(end),
    });
  });
});

describe("polar orders", () => {
  const order = (fields: object, type = "order.paid") =>
    ADAPTERS.of("polar").interpret(type, {
      type,
      timestamp: "2026-02-01T10:00:00Z",
      data: { id: "order_1", status: "paid", currency: "usd", refunded_amount: 0, ...fields },
    }).payment?.charge;

  it.each([
    ["partly paid from the customer's balance", 4_000, -1_500, 2_500],
    ["wholly paid from it", 4_000, -4_000, 0],
    ["with a debt of the customer's", 4_000, 30, 4_030],
    ["that is a credit", -1_000, 0, 0],
  ])("are what was charged for one %s", (_, total_amount, applied_balance_amount, charged) => {
    const amounts = { total_amount, applied_balance_amount };
    expect(order({ ...amounts, due_amount: charged })?.amount).toBe(charged);
    expect(order(amounts)?.amount).toBe(charged);
  });

  it("are what is due, whatever else they contain", () => {
    expect(order({ total_amount: 4_000, due_amount: 3_000 })?.amount).toBe(3_000);
    expect(order({ total_amount: 4_000 })?.amount).toBe(4_000);
    expect(order({})).toBeUndefined();
  });

  it.each([
    [{ refunded_amount: 2_000, refunded_tax_amount: 380 }, 2_380],
    [{ refunded_amount: 2_000 }, 2_000],
    [{ refunded_amount: null }, null],
    [{ refunded_amount: 2_000, status: "refunded" }, 4_000],
  ])("count what %j says was refunded, with its tax", (refunded, expected) => {
    expect(order({ total_amount: 4_000, ...refunded }, "order.refunded")?.refundedAmount).toBe(expected);
  });

  it("belong to the customer's person where their metadata name none", () => {
    const renewal = (metadata: object) => ({
      data: {
        id: "order_1",
        billing_reason: "subscription_cycle",
        metadata,
        customer: { external_id: "user_5" },
      },
    });
    const { interpret } = ADAPTERS.of("polar");
    expect(interpret("order.paid", renewal({})).userId).toBe("user_5");
    expect(interpret("order.paid", renewal({ userId: "user_4" })).userId).toBe("user_4");
  });

  it("are ignored until they are paid", () => {
    const amounts = { id: "order_1", total_amount: 4_000, currency: "usd", billing_reason: "purchase" };
    const kindOf = (status: string) =>
      ADAPTERS.of("polar").interpret("order.paid", { data: { ...amounts, status } }).kind;
    expect([kindOf("pending"), kindOf("paid")]).toEqual(["ignored", "payment"]);
  });

  it("report an update once they are paid", () => {
    const refunded = { total_amount: 4_000, refunded_amount: 2_000, status: "partially_refunded" };
    expect(order(refunded, "order.updated")).toMatchObject({ amount: 4_000, refundedAmount: 2_000 });
    expect(order({ ...refunded, status: "refunded" }, "order.updated")?.refundedAmount).toBe(4_000);
    expect(order({ total_amount: 4_000 }, "order.updated")?.refundedAmount).toBe(0);
    for (const status of ["draft", "pending", "void", null])
      expect(order({ total_amount: 4_000, status }, "order.updated")).toBeUndefined();
  });

  it.each([
    ["subscription_cycle", "2026-02-28T00:00:00Z"],
    ["subscription_meter_cycle", "2026-01-31T00:00:00Z"],
  ])("for the reason %s are for the period until %s", (billing_reason, end) => {
    const subscription = {
      current_period_start: "2026-01-31T00:00:00Z",
      current_period_end: "2026-02-28T00:00:00Z",
    };
    expect(order({ total_amount: 4_000, billing_reason, subscription })?.periodEnd).toEqual(new Date(end));
  });

  it.each([
    ["2026-01-30T23:59:59Z", null],
    ["2026-01-31T00:00:00Z", "2026-02-28T00:00:00Z"],
  ])("made at %s are for the period until %s", (created_at, end) => {
    const subscription = {
      current_period_start: "2026-01-31T00:00:00Z",
      current_period_end: "2026-02-28T00:00:00Z",
    };
    const read = order({ total_amount: 4_000, created_at, subscription }, "order.refunded");
    expect(read?.periodEnd).toEqual(end && new Date(end));
  });

  it("are refunded when what was charged is", () => {
    const refunded = { status: "refunded", refunded_amount: 2_100, refunded_tax_amount: 400 };
    const amounts = {
      total_amount: 4_000,
      tax_amount: 400,
      applied_balance_amount: -1_500,
      due_amount: 2_500,
    };
    expect(order({ ...amounts, ...refunded }, "order.refunded")).toMatchObject({
      amount: 2_500,
      refundedAmount: 2_500,
    });
  });
});

describe("polar refunds", () => {
  const REFUND = { id: "refund_1", order_id: "order_1", amount: 2_000, tax_amount: 380 };
  const read = (type: string, data: object) => ADAPTERS.of("polar").interpret(type, { data });

  it.each([
    ["refund.created", "pending", 0],
    ["refund.updated", "failed", 0],
    ["refund.updated", "succeeded", 2_380],
    ["refund.created", null, 2_380],
  ])("count %s with status %s as %d, with the tax", (type, status, amount) => {
    const reversal = { id: "refund_1", kind: "refund", of: "order_1", amount };
    expect(read(type, { ...REFUND, status }).payment?.reversal).toEqual(reversal);
  });

  it.each(["id", "order_id", "amount"])("are ignored without their %s", (field) => {
    expect(read("refund.created", { ...REFUND, [field]: null }).kind).toBe("ignored");
  });
});

describe("lemon squeezy payments", () => {
  const read = (type: string, fields: object, id: string | null = "5") =>
    ADAPTERS.of("lemon-squeezy").interpret(type, {
      meta: { custom_data: { user_id: "user_6" } },
      data: { id, attributes: { total: 900, currency: "USD", ...fields } },
    });

  it.each([
    [{ status: "refunded" }, 900],
    [{ status: "paid", refunded: true }, 900],
    [{ status: "partial_refund", refunded: false, refunded_amount: 300 }, 300],
    [{ status: "paid", refunded: false }, null],
  ])("read %j as refunded by %s", (fields, refundedAmount) => {
    const { payment } = read("subscription_payment_refunded", fields);
    expect(payment?.charge).toMatchObject({ amount: 900, refundedAmount });
  });

  it("are paid once a failed one is recovered, for the same person", () => {
    const charge = { id: "5", state: "paid" };
    expect(read("subscription_payment_recovered", {})).toMatchObject({
      userId: "user_6",
      payment: { charge },
    });
  });

  it("were made when their invoice was, also when they are refunded later", () => {
    const times = { created_at: "2026-01-01T00:00:00.000000Z", updated_at: "2026-02-01T00:00:00.000000Z" };
    const { payment } = read("subscription_payment_refunded", { ...times, refunded_amount: 900 });
    expect(payment?.charge?.occurredAt).toEqual(new Date("2026-01-01T00:00:00Z"));
  });

  it("are ignored without their id", () => {
    expect(read("order_refunded", { refunded_amount: 900 }, null).kind).toBe("ignored");
  });

  it.each([
    ["subscription_payment_success", "invoice_url"],
    ["order_refunded", "receipt"],
  ])("take the receipt of %s from %s", (type, name) => {
    const receipt = "https://app.lemonsqueezy.com/my-orders/5";
    expect(read(type, { urls: { [name]: receipt } }).payment?.charge?.receiptUrl).toBe(receipt);
  });
});

it("keeps orders of Lemon Squeezy apart from invoices with the same number", () => {
  const data = { id: "5", attributes: { total: 900, currency: "USD", refunded_amount: 900 } };
  const order = ADAPTERS.of("lemon-squeezy").interpret("order_refunded", { data });
  const invoice = ADAPTERS.of("lemon-squeezy").interpret("subscription_payment_refunded", { data });
  expect([order.payment?.charge?.id, invoice.payment?.charge?.id]).toEqual(["order_5", "5"]);
});

describe("lemon-squeezy payments", () => {
  it.each([
    ["updated", true],
    ["renewal", false],
  ])(
    "say whether one with the reason %s is for a change within the period",
    (billing_reason, isForChange) => {
      const attributes = { billing_reason, subscription_id: 81, total: 500, currency: "EUR", status: "paid" };
      const body = { meta: {}, data: { type: "subscription-invoices", id: "7", attributes } };
      const { payment } = ADAPTERS.of("lemon-squeezy").interpret("subscription_payment_success", body);
      expect(payment?.charge).toMatchObject({ id: "7", isForChange });
    },
  );
});
