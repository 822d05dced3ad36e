-- When a subscription's interval was changed at once: each such change begins a period with new quotas, so that there are
-- only so many of them.
create table interval_change (
  id bigint generated always as identity primary key,
  subscription_id uuid not null references subscription on delete cascade,
  changed_at timestamptz not null default clock_timestamp()
);
create index interval_change_subscription on interval_change (subscription_id, changed_at);
create index interval_change_changed_at on interval_change (changed_at);
