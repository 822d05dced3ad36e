import { z } from "zod";
import { PAYMENT_STATUSES, type PaymentStatus } from "../../domain/payments/payment.ts";
import { SLOTS } from "../../domain/slot.ts";
import { isUuid } from "../../domain/uuid.ts";
import type { Queryable } from "../../store/database.ts";
import { type ListedPayment, paymentsOfUser } from "../../store/payments/payment-list.ts";
import { cutPage, PAGE, type Page, positionOf } from "../page.ts";

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

type Query = {
  limit: number;
  cursor: string | null;
  status: PaymentStatus | null;
  subscriptionId: string | null;
};

/** A page of a user's payments, the newest first. @throws Refusal `invalid_input` for an unknown cursor */
export async function pageOfPayments(
  { database }: { database: Queryable },
  userId: string,
  { limit, cursor, ...filter }: Query,
): Promise<Page<ListedPayment>> {
  const before = positionOf(cursor, isUuid);
  const rows = await paymentsOfUser(database, userId, filter, { before, limit: limit + 1 });
  return cutPage(rows, limit);
}
