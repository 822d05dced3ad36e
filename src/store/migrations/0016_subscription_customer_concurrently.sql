create index concurrently subscription_customer
  on subscription (provider text_pattern_ops, customer_id text_pattern_ops) where customer_id is not null;
