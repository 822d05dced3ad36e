create index concurrently subscription_by_payment
  on subscription (payment_id text_pattern_ops, provider text_pattern_ops) where payment_id is not null;
