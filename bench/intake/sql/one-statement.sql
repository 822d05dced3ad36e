\set n :n + 1
\set number :first + :client_id + :clients * :n
\set sub :number % :subs
\set chance (:number * 2654435761) % 4294967296
\set at 1750000000 + :number / :subs
with delivered as (
  insert into webhook_delivery
    (provider, event_id, event_type, format, status, claim_source, occurred_at, completed_at, payload)
  values (
    'provider-a',
    case :kind when 'stripe' then 'evt_1' || lpad(to_hex((:at)::bigint), 8, '0') || '2eZvKYlo2C' || lpad(to_hex((:chance)::bigint), 8, '0')
      else 'evt_1' || lpad(to_hex((:chance)::bigint), 8, '0') || '2eZvKYlo2C0000bench' end,
    'customer.subscription.updated', 'stripe', 'successful', 'delivery',
    to_timestamp((:at)::float8), clock_timestamp(), (:payload)::text::json
  )
  on conflict (provider, event_id) do nothing
  returning id, claim_no, received_at
), attempted as (
  insert into webhook_attempt (delivery_id, claim_no, source, outcome, started_at, duration_ms)
  select id, claim_no, 'delivery', 'successful', received_at, 0 from delivered
)
insert into subscription as s
  (id, user_id, provider, provider_subscription_id, customer_id, price_id, plan_id, seats, status,
    current_period_end, cancel_at_period_end, out_of_order, last_event_at_micros)
select gen_random_uuid(), 'bench_user_' || lpad((:sub)::text, 8, '0'), 'provider-a',
  'sub_1bench' || lpad((:sub)::text, 8, '0'), 'cus_1bench' || lpad((:sub)::text, 8, '0'), 'price_pro_monthly', 'pro',
  1 + ((:at)::bigint % 5)::int, 'active', to_timestamp((:at)::float8 + 2592000), false, false, (:at)::bigint * 1000000
from delivered
on conflict (provider, provider_subscription_id) do update set
  user_id = excluded.user_id, customer_id = excluded.customer_id, price_id = excluded.price_id,
  plan_id = excluded.plan_id, seats = excluded.seats, status = excluded.status,
  current_period_end = excluded.current_period_end, cancel_at_period_end = excluded.cancel_at_period_end,
  out_of_order = s.out_of_order or excluded.last_event_at_micros < s.last_event_at_micros,
  last_event_at_micros = greatest(excluded.last_event_at_micros, s.last_event_at_micros),
  updated_at = clock_timestamp();
