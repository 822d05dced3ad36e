-- Deliveries of the past, as the signed events of the bench would have left them, $1 to $2.
with past as (
  select n, 1740000000 + n / 300 as at, lpad((n % $5::int)::text, 8, '0') as digits,
    lpad(to_hex((n::bigint * 2654435761 + 2147483648) % 4294967296), 8, '0') as chance
  from generate_series($1::int, $2::int) as n
), delivered as (
  insert into webhook_delivery
    (provider, event_id, event_type, format, status, claim_source, claimed_at, received_at, completed_at, occurred_at, payload)
  select 'provider-a',
    case $3::text when 'stripe' then 'evt_1' || lpad(to_hex(at), 8, '0') || '2eZvKYlo2C' || chance
      else 'evt_1' || chance || '2eZvKYlo2C0000past' end,
    'customer.subscription.updated', 'stripe', 'successful', 'delivery',
    to_timestamp(at), to_timestamp(at), to_timestamp(at) + interval '5 milliseconds', to_timestamp(at),
    replace(replace($4::text, '00000000', digits), '1750000001', at::text)::json
  from past
  returning id, claim_no, received_at
)
insert into webhook_attempt (delivery_id, claim_no, source, outcome, started_at, duration_ms)
select id, claim_no, 'delivery', 'successful', received_at, 5 from delivered
