-- What people are about to buy, and what was found out by asking the providers.

-- One a person: the checkout that the next click is sent to again. Its key is written down before the provider is
-- asked, so that a process that dies over it does not have a second one opened.
create table checkout (
  user_id text primary key references "user" (id) on delete cascade,
  provider text not null,
  plan_id text not null,
  price_id text not null,
  seats integer not null check (seats > 0),
  idempotency_key uuid not null,
  asked_at timestamptz not null default clock_timestamp(),
  -- Until then somebody is opening it.
  lease_until timestamptz not null,
  -- Null until it is open.
  session_id text,
  url text,
  opened_at timestamptz,
  expires_at timestamptz,
  check ((url is null) = (opened_at is null))
);

-- What a comparison with a provider has changed: field -> [before, after]. Neither names anybody: a person's leaving
-- must not have to look here.
create table reconciliation (
  id bigint generated always as identity primary key,
  subscription_id uuid not null references subscription (id) on delete cascade,
  at timestamptz not null default clock_timestamp(),
  by text not null check (by in ('operator', 'administrator')),
  -- The administrator, as long as there is one.
  user_id text references "user" (id) on delete set null,
  changes json not null
);

create index reconciliation_by_subscription on reconciliation (subscription_id, at);
create index reconciliation_by_user on reconciliation (user_id) where user_id is not null;

-- The nights on which the subscriptions were compared, so that one process of several does it.
create table nightly_reconcile (
  night date primary key,
  lease_until timestamptz not null,
  finished_at timestamptz
);

-- Events that a provider says it has sent, and nobody has received. Not validated: older rows keep to less.
alter table webhook_delivery drop constraint webhook_delivery_claim_source_check;
alter table webhook_delivery add constraint webhook_delivery_claim_source_check
  check (claim_source in ('delivery', 'retry', 'replay', 'reconcile')) not valid;
alter table webhook_attempt drop constraint webhook_attempt_source_check;
alter table webhook_attempt add constraint webhook_attempt_source_check
  check (source in ('delivery', 'retry', 'replay', 'reconcile')) not valid;
