create unique index concurrently subscription_key
  on subscription (provider text_pattern_ops, provider_subscription_id text_pattern_ops);
