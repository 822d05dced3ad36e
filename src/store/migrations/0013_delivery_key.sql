-- The index that 0011 made takes the place of the old one: a change of the catalogue alone.
drop index webhook_delivery_once;
alter index webhook_delivery_key rename to webhook_delivery_once;
