-- Changes of subscriptions, of which the relay makes events. Most webhooks write one: hence columns instead of the events'
-- JSON, and no index but the order. Relayed rows are deleted.
create table outbound_change (
  -- One order for changes and events.
  seq bigint primary key default nextval('outbound_event_seq_seq'),
  occurred_at timestamptz not null,
  created_at timestamptz not null,
  current_period_end timestamptz,
  before_current_period_end timestamptz,
  subscription_id uuid not null,
  seats integer not null,
  cancel_at_period_end boolean not null,
  out_of_order boolean not null,
  before_cancel_at_period_end boolean,
  -- Of the subscription's event; null: nothing that it shows has changed.
  type text,
  user_id text,
  provider text not null,
  provider_subscription_id text,
  plan_id text not null,
  status text not null,
  before_user_id text,
  before_plan_id text,
  -- Null: the subscription is new.
  before_status text
) with (
  -- By the number of changes since: the table is almost empty. Giving its end back would lock the intake out.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_threshold = -1, vacuum_truncate = off
);

-- How far both tables have been relayed. Not scan_from: processes of the release before move it, and see no changes.
alter table outbound_relay
  add column relayed_until bigint not null default 0,
  add column next_relayed_until bigint not null default 0,
  add column next_relayed_xid xid8,
  add column last_relayed bigint not null default 0;
