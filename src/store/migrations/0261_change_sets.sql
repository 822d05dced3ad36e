-- The changes of a transaction for the relay, in one row: it is written and deleted once for a group of webhooks.
create table outbound_change_set (
  -- One order for changes and events.
  seq bigint primary key default nextval('outbound_event_seq_seq'),
  changes_count integer not null,
  -- Of each change's subscription, in seconds since 1970.
  occurred_at float8[] not null,
  created_at float8[] not null,
  -- JSON, deflated unless it is short.
  changes bytea not null
) with (
  -- By the number of rows since: the table is almost empty. Giving its end back would lock the intake out.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_insert_threshold = -1, vacuum_truncate = off
);
alter table outbound_change_set alter column changes set storage external;
