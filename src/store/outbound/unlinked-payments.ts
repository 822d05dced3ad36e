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

/**
 * Remembers payments whose events name nobody, because their subscription is not known yet, and writes an event of each once
 * it is, for the next batch. Here and not in the intake, whose transactions may not see each other: nothing is relayed
 * before its commit. Resolves to how many events were written.
 */
export async function reportLinkedPayments(
  transaction: Queryable,
  events: readonly CompleteEvent[],
  written: readonly Written[],
): Promise<number> {
  const unlinked = events.flatMap(unlinkedPaymentOf);
  const changed = written.flatMap((item) =>
    item.kind !== "event" && item.after.userId !== null && item.after.providerSubscriptionId !== null
      ? { provider: item.after.provider, id: item.after.providerSubscriptionId }
      : [],
  );
  if (unlinked.length + changed.length === 0) return 0;
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
