-- Events that were relayed in large numbers while no endpoint wanted them, up to 100 to a row: a tenth of the log, and no index
-- entry each. Read in order only.
create table outbound_event_pack (
  last_position bigint primary key,
  first_position bigint not null,
  -- Of the newest of them.
  occurred_at timestamptz not null,
  -- A Bloom filter of the users whom they concern.
  users bytea not null,
  -- Deflated; a line of JSON each.
  events bytea not null
);
alter table outbound_event_pack
  alter column users set storage plain,
  -- Deflated already.
  alter column events set storage external;
