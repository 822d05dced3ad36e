import type { listPayments } from "../../../operations/payments/list-payments.ts";
import { PaymentView } from "../../../operations/payments/payment-view.ts";
import { builder } from "../builder.ts";
import * as enums from "../enums.ts";
import type { ItemOf } from "./operation-output.ts";

export const Payment = builder.objectRef<ItemOf<typeof listPayments>>("Payment").implement({
  extensions: { view: PaymentView },
  fields: (t) => ({
    id: t.exposeID("id"),
    provider: t.expose("provider", { type: enums.SlotEnum }),
    providerPaymentId: t.exposeString("providerPaymentId"),
    subscriptionId: t.exposeID("subscriptionId", { nullable: true }),
    // GraphQL's Int has 32 bits.
    amount: t.exposeFloat("amount", { description: "In the currency's smallest unit; a whole number." }),
    currency: t.exposeString("currency"),
    status: t.expose("status", { type: enums.PaymentStatusEnum }),
    receiptUrl: t.exposeString("receiptUrl", { nullable: true }),
    occurredAt: t.expose("occurredAt", { type: "DateTime" }),
  }),
});
