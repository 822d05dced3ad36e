-- Comparisons that the server starts by itself, and subscriptions that an administrator has dismissed, with the reason.
alter table reconciliation
  drop constraint reconciliation_by_check,
  add column reason text;
alter table reconciliation add constraint reconciliation_by_check
  check (by in ('operator', 'administrator', 'server')) not valid;

-- One row per flagged subscription that is being compared; deleted once it matches its provider.
create table subscription_heal (
  subscription_id uuid primary key references subscription (id) on delete cascade,
  attempts integer not null,
  -- Also the lease of whoever is comparing it.
  next_attempt_at timestamptz not null,
  -- The state that the provider could say nothing about: not compared again before the next event.
  settled_version text,
  last_problem text
);

-- When the next subscription may be fetched from a slot's provider, over all processes.
create table heal_pace (
  provider text primary key,
  next_fetch_at timestamptz not null
);

-- How far the events that a provider lists have been looked through for missed ones.
create table event_sweep (
  provider text primary key,
  swept_until timestamptz,
  lease_until timestamptz not null,
  last_problem text
);
