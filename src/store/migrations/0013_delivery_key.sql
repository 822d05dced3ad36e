-- The columns take the order of the index that 0011 made, so that neither is rebuilt: a change of the catalogue alone.
drop index webhook_delivery_once;
alter table webhook_delivery
  alter column provider type text collate "C",
  alter column event_id type text collate "C";
alter index webhook_delivery_key rename to webhook_delivery_once;
