import type { Queryable } from "../database.ts";
import { paymentEventData, paymentEventType } from "../payments/payment-event.ts";
import type { CompleteEvent } from "./outbound-relay.ts";
import type { Written } from "./written-events.ts";

const REMEMBER = {
  name: "remember_unlinked_payments",
  text: `
insert into outbound_unlinked_payment (payment_id, provider, provider_subscription_id)
select id, provider, provider_subscription_id from payment
where id = any ($1::uuid[]) and provider_subscription_id is not null
on conflict do nothing`,
};

// Also those that have just been remembered: their subscription may have been relayed before.
const REPORT = {
  name: "report_linked_payments",
  text: `
with linked as (
  delete from outbound_unlinked_payment u
  using (
    select provider, id from unnest($1::text[], $2::text[]) as changed (provider, id)
    union
    select provider, provider_subscription_id from payment where id = any ($3::uuid[])
  ) named, subscription s
  where u.provider = named.provider and u.provider_subscription_id = named.id
    and s.provider = named.provider and s.provider_subscription_id = named.id and s.user_id is not null
  returning u.payment_id, s.id as subscription_id, s.user_id
), reported as (
  insert into outbound_event (type, subject, data)
  select ${paymentEventType("p")}, l.subscription_id::text, ${paymentEventData("p", "l.subscription_id", "l.user_id")}
  from linked l join payment p on p.id = l.payment_id
  order by p.occurred_at, p.id
  returning seq
)
select count(*)::int as count from reported`,
};

const ARE_ANY = {
  name: "are_any_payments_unlinked",
  text: "select exists (select from outbound_unlinked_payment) as found",
};

/** Whether any payment waits for its subscription: most often none does, and then few changes need looking at. */
export async function areAnyUnlinked(transaction: Queryable): Promise<boolean> {
  const [row] = await transaction.run<{ found: boolean }>(ARE_ANY);
  return row?.found === true;
}

/**
 * Remembers payments whose events name nobody, because their subscription is not known yet, and writes an event of each once
 * it is, for the next batch. Here and not in the intake, whose transactions may not see each other: nothing is relayed
 * before its commit. Resolves to how many events were written.
 * @param areAny what `areAnyUnlinked` found, once the relay was locked
 */
export async function reportLinkedPayments(
  transaction: Queryable,
  events: readonly CompleteEvent[],
  written: readonly Written[],
  areAny: boolean,
): Promise<number> {
  const unlinked = events.flatMap(unlinkedPaymentOf);
  if (unlinked.length === 0 && !areAny) return 0;
  const changed = written.flatMap((item) =>
    item.kind !== "event" && item.after.userId !== null && item.after.providerSubscriptionId !== null
      ? { provider: item.after.provider, id: item.after.providerSubscriptionId }
      : [],
  );
  const keys = [changed.map(({ provider }) => provider), changed.map(({ id }) => id)];
  const [, [row]] = await Promise.all([
    unlinked.length > 0 ? transaction.run(REMEMBER, [unlinked]) : null,
    transaction.run<{ count: number }>(REPORT, [...keys, unlinked]),
  ]);
  return row?.count ?? 0;
}

/** Its id, if the event names neither user nor subscription: that of a deleted account is known. */
function unlinkedPaymentOf({ userId, data }: CompleteEvent): string[] {
  const payment = data.payment as { id: string; subscriptionId: string | null } | undefined;
  return payment !== undefined && userId === null && payment.subscriptionId === null ? [payment.id] : [];
}
