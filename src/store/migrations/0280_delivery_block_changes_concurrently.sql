create index concurrently webhook_delivery_block_changes
  on webhook_delivery ((id >> 18), first_subscription_id) where first_subscription_id is not null;
