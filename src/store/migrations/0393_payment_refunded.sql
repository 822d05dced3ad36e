-- Whether refunds take all of the payment back: a dispute hides it in the status. Null: not settled since this was stored.
alter table payment add column is_refunded boolean;
