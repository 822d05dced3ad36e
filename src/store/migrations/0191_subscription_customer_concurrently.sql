create index concurrently subscription_customer on subscription (customer_id text_pattern_ops, provider text_pattern_ops) where customer_id is not null;
