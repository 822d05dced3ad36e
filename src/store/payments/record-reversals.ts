import type { Reversal } from "../../domain/payments/payment.ts";
import type { Queryable } from "../database.ts";
import type { ReportedPayment } from "./reported-payment.ts";
import { rounds } from "./rounds.ts";

export function recordReversals(
  transaction: Queryable,
  payments: readonly ReportedPayment[],
): Promise<unknown>[] {
  return reversalRounds(payments).map((round) => transaction.run(REVERSE, reversalColumns(round)));
}

// Of two reports of the same second the larger amount counts: Stripe's times are whole seconds.
const REVERSE = {
  name: "record_reversals",
  text: `
insert into payment_reversal as r (provider, reversal_id, payment_name, kind, amount, last_event_at_micros,
  last_event_id)
select provider, reversal_id, payment_name, kind, amount, event_micros, event_id
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::text[])
  as given (provider, reversal_id, payment_name, kind, amount, event_micros, event_id)
order by 1, 2
on conflict (provider, reversal_id) do update set
  amount = case when excluded.last_event_at_micros = r.last_event_at_micros
    then greatest(r.amount, excluded.amount) else excluded.amount end,
  last_event_at_micros = coalesce(excluded.last_event_at_micros, r.last_event_at_micros),
  last_event_id = coalesce(excluded.last_event_id, r.last_event_id)
where excluded.last_event_at_micros is null or r.last_event_at_micros is null
  or excluded.last_event_at_micros >= r.last_event_at_micros`,
};

type ReportedReversal = ReportedPayment & { reversal: Reversal };

function reversalRounds(payments: readonly ReportedPayment[]): ReportedReversal[][] {
  const reversals = payments.flatMap((payment) =>
    payment.report.reversal === null ? [] : [{ ...payment, reversal: payment.report.reversal }],
  );
  return rounds(reversals, ({ provider, reversal }) => `${provider} ${reversal.id}`);
}

function reversalColumns(round: readonly ReportedReversal[]): unknown[][] {
  return [
    round.map((payment) => payment.provider),
    round.map(({ reversal }) => reversal.id),
    round.map(({ reversal }) => reversal.of),
    round.map(({ reversal }) => reversal.kind),
    round.map(({ reversal }) => reversal.amount),
    round.map((payment) => payment.occurredAtMicros),
    round.map((payment) => payment.eventId),
  ];
}
