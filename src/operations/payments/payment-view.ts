import { z } from "zod";
import { PAYMENT_STATUSES, type PaymentStatus } from "../../domain/payments/payment.ts";
import { SLOTS } from "../../domain/slot.ts";
import type { Queryable } from "../../store/database.ts";
import { type ListedPayment, paymentsOfUser } from "../../store/payments/payment-list.ts";
import { PAGE, type Page, type PageQuery, readPage } from "../page.ts";

/** A payment, wherever it is shown. */
export const PaymentView = z
  .object({
    id: z.uuid().describe("The payment's id."),
    provider: z.enum(SLOTS).describe("The provider slot it was made through."),
    providerPaymentId: z.string().describe("The provider's id of the payment."),
    subscriptionId: z.uuid().nullable().describe("The subscription that was paid for; `null`: unknown."),
    amount: z.int().describe("In the currency's smallest unit."),
    currency: z.string().describe("ISO 4217."),
    status: z.enum(PAYMENT_STATUSES).describe("The payment's state."),
    receiptUrl: z.url().nullable().describe("The provider's receipt; `null` where the provider sends none."),
    occurredAt: z.date().describe("When it was made."),
  })
  .meta({ id: "Payment", description: "A payment with its refunds and disputes." });

export const PAYMENT_FILTERS = {
  ...PAGE,
  status: z.enum(PAYMENT_STATUSES).nullable().default(null).describe("Only payments with this status."),
  subscriptionId: z.uuid().nullable().default(null).describe("Only payments of this subscription."),
};

type Query = PageQuery & { status: PaymentStatus | null; subscriptionId: string | null };

/** A page of a user's payments, the newest first. @throws Refusal `invalid_input` for an unknown cursor */
export function pageOfPayments(
  { database }: { database: Queryable },
  userId: string,
  { limit, cursor, ...filter }: Query,
): Promise<Page<ListedPayment>> {
  return readPage({ limit, cursor }, (before, limit) =>
    paymentsOfUser(database, userId, filter, { before, limit }),
  );
}
