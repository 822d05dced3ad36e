-- The price that is paid after the change: of one plan a yearly and a monthly one. Null in rows of earlier commits.
alter table scheduled_change add column price_id text;
