-- Change sets that the relay could not read, so that it can go on with the others: see docs/decisions/0040-outbox.md.
create table outbound_unreadable_set (
  seq bigint primary key,
  changes_count integer not null,
  occurred_at float8[] not null,
  created_at float8[] not null,
  changes bytea not null,
  error text not null,
  set_aside_at timestamptz not null default clock_timestamp()
);
