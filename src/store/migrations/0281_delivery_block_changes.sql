-- The index that 0280 made takes the place of the old one: a change of the catalogue alone. See `delivery-block.ts`.
drop index webhook_delivery_changes;
alter index webhook_delivery_block_changes rename to webhook_delivery_changes;
