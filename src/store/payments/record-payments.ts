import type { Slot } from "../../domain/slot.ts";
import type { Queryable } from "../database.ts";
import { recordCharges } from "./record-charges.ts";
import { recordReversals } from "./record-reversals.ts";
import type { ReportedPayment } from "./reported-payment.ts";
import { lockPayments, settlePayments } from "./settle-payments.ts";

/**
 * Stores what events report of payments. Each row keeps its newest report, so that the order of arrival makes
 * no difference; events of one payment wait for each other. Each change of a status is an outbound event, and
 * administrators are notified of refunds in full and disputes: neither without `notify`.
 */
export async function recordPayments(
  transaction: Queryable,
  payments: readonly ReportedPayment[],
  { notify = true, linked = [] }: { notify?: boolean; linked?: readonly string[] } = {},
): Promise<void> {
  const names = namesOf(payments);
  const keys = [names.map(({ provider }) => provider), names.map(({ name }) => name)];
  const writes = [
    // Once more when the names have been written: some may have been linked to their payments meanwhile.
    lockPayments(transaction, keys),
    transaction.run(NAME, [...keys, names.map(({ paymentId }) => paymentId)]),
    ...recordCharges(transaction, payments),
    ...recordReversals(transaction, payments),
  ];
  await Promise.all([...writes, settlePayments(transaction, keys, { notify, linked })]);
}

const NAME = {
  name: "name_payments",
  text: `
insert into payment_name (provider, name, provider_payment_id)
select provider, name, payment_id from unnest($1::text[], $2::text[], $3::text[]) as given (provider, name, payment_id)
order by 1, 2
on conflict (provider, name) do update
set provider_payment_id = coalesce(payment_name.provider_payment_id, excluded.provider_payment_id)`,
};

type Name = { provider: Slot; name: string; paymentId: string | null };

function namesOf(payments: readonly ReportedPayment[]): Name[] {
  const names = new Map<string, Name>();
  const add = (name: Name) => {
    const key = `${name.provider} ${name.name}`;
    if (names.get(key)?.paymentId == null) names.set(key, name);
  };
  for (const { provider, report } of payments) {
    const paymentId = report.charge?.id ?? report.names[0] ?? null;
    if (paymentId !== null) {
      for (const name of new Set([paymentId, ...report.names])) add({ provider, name, paymentId });
    }
    if (report.reversal !== null) add({ provider, name: report.reversal.of, paymentId: null });
  }
  return [...names.values()];
}
