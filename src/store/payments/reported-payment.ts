import type { PaymentReport } from "../../domain/payments/payment.ts";
import type { Slot } from "../../domain/slot.ts";

/** A report of a payment, with the person whom the event names. */
export type ReportedPayment = {
  provider: Slot;
  report: PaymentReport;
  /** `null`: from the provider's answer. */
  eventId: string | null;
  /** By the provider's clock; microseconds. */
  occurredAtMicros: number | null;
  providerSubscriptionId: string | null;
  userId: string | null;
  /** The person has deleted the account: nothing that leads to them is stored. */
  isPersonGone: boolean;
};
