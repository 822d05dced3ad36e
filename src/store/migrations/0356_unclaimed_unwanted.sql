-- Since when a server without the key of its slot has seen that no other one claims it.
alter table unwanted_subscription add column unclaimed_since timestamptz;
