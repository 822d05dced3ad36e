-- The holder of a checkout's lease. The open checkout stays in the row until its successor takes its place, so that a
-- process that dies in between leaves behind which one is still to be closed.
alter table checkout add column lease_key uuid;

-- Replaced checkouts that their provider cannot close: whoever pays one of them as well has paid twice.
create table replaced_checkout (
  provider text not null,
  session_id text not null,
  user_id text not null references "user" (id) on delete cascade,
  replaced_at timestamptz not null default clock_timestamp(),
  primary key (provider, session_id)
);

create index replaced_checkout_by_user on replaced_checkout (user_id);
create index replaced_checkout_by_age on replaced_checkout (replaced_at);

-- Subscriptions that were paid for after the account was deleted, or a second time: to be canceled and refunded.
create table unwanted_subscription (
  provider text not null,
  provider_subscription_id text not null,
  because text not null check (because in ('account_deleted', 'paid_twice')),
  found_at timestamptz not null default clock_timestamp(),
  next_attempt_at timestamptz not null default clock_timestamp(),
  attempts integer not null default 0,
  canceled_at timestamptz,
  refunded boolean,
  primary key (provider, provider_subscription_id)
);

create index unwanted_subscription_open on unwanted_subscription (next_attempt_at) where canceled_at is null;
