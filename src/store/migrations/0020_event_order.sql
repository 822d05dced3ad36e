-- The order of events that the provider's clock cannot tell apart, and the time of the last comparison with the provider.
-- Null in older rows: not known.
alter table subscription
  add column last_event_rank smallint,
  add column compared_at_micros bigint;
