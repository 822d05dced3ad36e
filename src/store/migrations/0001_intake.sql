-- Users: the columns that Better Auth's Drizzle schema expects, and the product's own.
create table "user" (
  id text primary key,
  name text not null,
  email text not null unique,
  email_verified boolean not null default false,
  image text,
  role text not null default 'user' check (role in ('user', 'admin')),
  locale text not null default 'en',
  preferences jsonb not null default '{"theme": "system", "emailNotifications": true}',
  onboarded boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- Who has deleted the account: the id alone, so that later events of theirs are told from those of strangers.
create table deleted_user (
  id text primary key,
  deleted_at timestamptz not null default now()
);

create table subscription (
  id uuid primary key,
  user_id text references "user" (id) on delete set null,
  provider text not null,
  provider_subscription_id text,
  customer_id text,
  price_id text,
  plan_id text not null,
  seats integer not null check (seats >= 0),
  status text not null
    check (status in ('incomplete', 'trialing', 'active', 'past_due', 'paused', 'unpaid', 'canceled')),
  current_period_end timestamptz,
  cancel_at_period_end boolean not null,
  out_of_order boolean not null,
  -- The provider's clock, in microseconds since the epoch: finer than a JavaScript date.
  last_event_at_micros bigint,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
) with (fillfactor = 80);

create unique index subscription_named_once on subscription (provider, provider_subscription_id);
create unique index subscription_nameless_once on subscription (provider, user_id)
  where provider_subscription_id is null;
create index subscription_by_user on subscription (user_id);
create index subscription_by_customer on subscription (provider, customer_id)
  where customer_id is not null;
create index subscription_out_of_order on subscription (id) where out_of_order;

create table webhook_delivery (
  id bigint generated always as identity primary key,
  provider text not null,
  event_id text not null,
  event_type text not null,
  -- The wire format it was parsed with: a slot may be bound to another one later.
  format text not null,
  status text not null check (status in ('pending', 'successful', 'failed')),
  -- Counts the attempts and fences them: only the holder of the latest claim may write an outcome.
  claim_no integer not null default 1,
  claim_source text not null check (claim_source in ('delivery', 'retry', 'replay')),
  claimed_at timestamptz not null default clock_timestamp(),
  lease_until timestamptz,
  next_attempt_at timestamptz,
  last_error text,
  received_at timestamptz not null default clock_timestamp(),
  completed_at timestamptz,
  occurred_at timestamptz,
  -- Exactly as delivered, hence not jsonb; null once pruned or redacted. The row itself stays for ever.
  payload json
);

-- Whether an event is new is decided here and nowhere else.
create unique index webhook_delivery_once on webhook_delivery (provider, event_id);
-- Open work only: their size follows what is to be done, not what was.
create index webhook_delivery_leased on webhook_delivery (lease_until) where status = 'pending';
create index webhook_delivery_failed on webhook_delivery (next_attempt_at) where status = 'failed';

-- No foreign key: its row lock would cost every event, and both are written by one statement.
create table webhook_attempt (
  delivery_id bigint not null,
  claim_no integer not null,
  source text not null check (source in ('delivery', 'retry', 'replay')),
  outcome text not null check (outcome in ('successful', 'failed')),
  reason text,
  started_at timestamptz not null,
  duration_ms double precision not null,
  primary key (delivery_id, claim_no)
);
