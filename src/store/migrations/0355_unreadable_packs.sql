-- Packs of events that could not be read, so that lists and streams go on behind them: see docs/decisions/0042-event-packs.md.
create table outbound_unreadable_pack (
  last_position bigint primary key references outbound_event_pack on delete cascade,
  error text not null,
  found_at timestamptz not null default clock_timestamp()
);
