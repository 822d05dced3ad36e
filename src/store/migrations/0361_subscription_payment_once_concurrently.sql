create unique index concurrently subscription_payment_once
  on subscription (payment_id text_pattern_ops, provider text_pattern_ops, user_id text_pattern_ops, (provider_subscription_id is null))
  where payment_id is not null;
