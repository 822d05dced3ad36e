create index concurrently webhook_delivery_changes
  on webhook_delivery (first_subscription_id) where first_subscription_id is not null;
