import { describe, expect, it } from "vitest";
import { ADAPTERS } from "../../src/providers/registry.ts";
import { PAYMENT_FORMATS, paymentEvents, paymentIdOf } from "../fixtures/payments.ts";

const AT = new Date("2026-02-01T10:00:00Z");
const FACTS = { key: "k", subscriptionId: "81", customerId: "cus_9", userId: "user_3", amount: 4_900 };

const read = (format: (typeof PAYMENT_FORMATS)[number], word: Parameters<typeof paymentEvents>[1]) =>
  paymentEvents(format, word, FACTS, AT).map(({ body, eventType }) =>
    ADAPTERS.of(format).interpret(eventType, body),
  );

describe.each(PAYMENT_FORMATS)("payments in %s", (format) => {
  it("contain the payment, its subscription, user, amount and currency", () => {
    const [event] = read(format, "paid");
    expect(event).toMatchObject({
      kind: "payment",
      userId: "user_3",
      providerSubscriptionId: "81",
      payment: {
        charge: { id: paymentIdOf(format, "k"), state: "paid", amount: 4_900, currency: "EUR" },
      },
    });
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
    ["charge.dispute.created", "warning_needs_response", 0],
    ["charge.dispute.created", "needs_response", 500],
    ["charge.dispute.closed", "lost", 500],
    ["charge.dispute.closed", "won", 0],
  ])("count %s with status %s as %d", (type, status, amount) => {
    const event = stripe(type, { id: "x_1", amount: 500, payment_intent: "pi_1", status });
    expect(event.payment?.reversal).toMatchObject({ id: "x_1", of: "pi_1", amount });
  });

  it("are ignored where an event names no amount or no currency", () => {
    expect(stripe("invoice.paid", { id: "in_1" }).kind).toBe("ignored");
    expect(stripe("refund.created", { id: "re_1", amount: 5 }).kind).toBe("ignored");
  });

  it("keep only receipts that are https links", () => {
    const invoice = (url: string) =>
      stripe("invoice.paid", { id: "in_1", amount_paid: 1, currency: "eur", hosted_invoice_url: url });
    expect(invoice("https://invoice.stripe.com/i/1").payment?.charge?.receiptUrl).toMatch(/^https:/);
    expect(invoice("javascript:alert(1)").payment?.charge?.receiptUrl).toBeNull();
  });
});

describe("paddle adjustments", () => {
  it.each([
    ["refund", "approved", { kind: "refund", amount: 500 }],
    ["refund", "pending_approval", { kind: "refund", amount: 0 }],
    ["refund", "rejected", { kind: "refund", amount: 0 }],
    ["chargeback", "approved", { kind: "dispute", amount: 500 }],
    ["chargeback_reverse", "approved", { kind: "dispute", amount: -500 }],
  ])("read %s, %s", (action, status, reversal) => {
    const data = { id: "adj_1", transaction_id: "txn_1", action, status, totals: { total: "500" } };
    const event = ADAPTERS.of("paddle").interpret("adjustment.updated", { data });
    expect(event.payment?.reversal).toMatchObject({ of: "txn_1", ...reversal });
  });

  it.each(["credit", "credit_reverse", "chargeback_warning", "constructor"])("ignore %s", (action) => {
    const data = { id: "adj_1", transaction_id: "txn_1", action, status: "approved", totals: { total: "5" } };
    expect(ADAPTERS.of("paddle").interpret("adjustment.created", { data }).kind).toBe("ignored");
  });

  it("ignore a transaction that only stores another payment method", () => {
    const data = { id: "txn_1", origin: "subscription_payment_method_change", currency_code: "EUR" };
    const totals = { ...data, details: { totals: { grand_total: "0" } } };
    expect(ADAPTERS.of("paddle").interpret("transaction.completed", { data: totals }).kind).toBe("ignored");
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

it("keeps orders of Lemon Squeezy apart from invoices with the same number", () => {
  const data = { id: "5", attributes: { total: 900, currency: "USD", refunded_amount: 900 } };
  const order = ADAPTERS.of("lemon-squeezy").interpret("order_refunded", { data });
  const invoice = ADAPTERS.of("lemon-squeezy").interpret("subscription_payment_refunded", { data });
  expect([order.payment?.charge?.id, invoice.payment?.charge?.id]).toEqual(["order_5", "5"]);
});
