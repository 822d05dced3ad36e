-- Payments, refunds and disputes as the providers' events report them, in any order. A payment belongs to its
-- subscription's person; `user_id` is for those that the events name themselves.
create table payment (
  id uuid primary key default gen_random_uuid(),
  provider text not null,
  provider_payment_id text not null,
  provider_subscription_id text,
  user_id text references "user" (id) on delete set null,
  -- In the currency's smallest unit.
  amount bigint not null,
  currency text not null,
  -- What its own events say; `status` includes refunds and disputes. Null only until the end of its first transaction.
  state text not null check (state in ('paid', 'failed')),
  status text check (status in ('paid', 'failed', 'refunded', 'partly_refunded', 'disputed')),
  -- In total, where its own events say so.
  refunded_amount bigint,
  period_start timestamptz,
  period_end timestamptz,
  receipt_url text,
  occurred_at timestamptz not null,
  last_event_at_micros bigint,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp()
);

create unique index payment_once on payment (provider text_pattern_ops, provider_payment_id text_pattern_ops);
create index payment_by_subscription on payment (provider text_pattern_ops, provider_subscription_id text_pattern_ops, occurred_at)
  where provider_subscription_id is not null;
create index payment_by_user on payment (user_id, occurred_at) where user_id is not null;

-- The ids under which events name a payment, its own included. Null: no event has said yet whose id it is. Also what
-- makes the events of one payment wait for each other.
create table payment_name (
  provider text not null,
  name text not null,
  provider_payment_id text
);

create unique index payment_name_once on payment_name (provider text_pattern_ops, name text_pattern_ops);
create index payment_name_by_payment on payment_name (provider text_pattern_ops, provider_payment_id text_pattern_ops)
  where provider_payment_id is not null;

-- Refunds and disputes that have events of their own. `amount` is 0 when they are not in effect.
create table payment_reversal (
  provider text not null,
  reversal_id text not null,
  payment_name text not null,
  kind text not null check (kind in ('refund', 'dispute')),
  amount bigint not null,
  last_event_at_micros bigint
);

create unique index payment_reversal_once on payment_reversal (provider text_pattern_ops, reversal_id text_pattern_ops);
create index payment_reversal_by_name on payment_reversal (provider text_pattern_ops, payment_name text_pattern_ops);
