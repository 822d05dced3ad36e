import type { PaymentEvent } from "../../domain/events/payment-event.ts";
import type { Charge, PaymentReport, Reversal } from "../../domain/payments/payment.ts";
import type { JsonReader } from "./json-reader.ts";

/** A charge, or `null` where the event names no amount or currency: there is nothing to record then. */
export function charge(
  fields: Omit<Charge, "id" | "amount" | "currency"> & {
    id: string | null;
    amount: number | null;
    currency: string | null;
  },
): Charge | null {
  const { id, amount, currency } = fields;
  return id === null || amount === null || currency === null ? null : { ...fields, id, amount, currency };
}

/**
 * A refund or dispute, or `null` where the event names no payment or no amount: 0 would mean that nothing was taken
 * back.
 */
export function reversal(
  fields: Pick<Reversal, "kind"> & { id: string | null; of: string | null; amount: number | null },
): Reversal | null {
  const { id, of, amount } = fields;
  return id === null || of === null || amount === null ? null : { ...fields, id, of, amount };
}

/** The report of an event about a payment; nothing where the event says too little. */
export function paymentOf(
  charge: Charge | null,
  { names = [], reversal = null }: { names?: readonly (string | null)[]; reversal?: Reversal | null } = {},
): { payment?: PaymentReport } {
  const knownNames = names.filter((name) => name !== null);
  if (charge === null && reversal === null && knownNames.length < 2) return {};
  return { payment: { charge, names: knownNames, reversal } };
}

/** An event that concerns a payment alone, with the ids that link it to a person. */
export function paymentEvent(
  links: Pick<PaymentEvent, "occurredAtMicros" | "userId" | "providerSubscriptionId" | "customerId">,
  report: { payment?: PaymentReport },
): PaymentEvent {
  return {
    ...links,
    kind: report.payment === undefined ? "ignored" : "payment",
    planId: null,
    items: [],
    status: null,
    currentPeriodEnd: null,
    cancelAtPeriodEnd: null,
    ...report,
  };
}

/** The period of a charge beside the plan. */
export function forNoPeriod(at: Date | null): Pick<Charge, "periodStart" | "periodEnd"> {
  return { periodStart: at, periodEnd: at };
}

/** The latest of these times. */
function latest(times: readonly (Date | null)[]): Date | null {
  const knownTimes = times.filter((time) => time !== null).sort((a, b) => b.getTime() - a.getTime());
  return knownTimes[0] ?? null;
}

/** The latest period of an invoice's lines: a single charge begins and ends at once. */
export function latestPeriod(lines: readonly JsonReader[]): Pick<Charge, "periodStart" | "periodEnd"> {
  const periods = lines.map((line) => line.at("period"));
  return {
    periodStart: latest(periods.map((period) => period.unixDate("start"))),
    periodEnd: latest(periods.map((period) => period.unixDate("end"))),
  };
}
