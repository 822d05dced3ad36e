-- Written with all of its data: the relay has only its position to add.
alter table outbound_event add column is_complete boolean not null default false;

alter table outbound_relay
  -- Every event with a number up to this one has its position. Index entries of relayed events stay for as long as any
  -- transaction has an old snapshot: without this bound the relay would read them all again each time.
  add column scan_from bigint not null default 0,
  -- Becomes scan_from once all transactions before next_scan_xid have ended.
  add column next_scan_from bigint not null default 0,
  add column next_scan_xid xid8,
  -- The highest number that has been relayed.
  add column last_seq bigint not null default 0;
