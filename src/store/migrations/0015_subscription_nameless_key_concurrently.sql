create unique index concurrently subscription_nameless_key
  on subscription (provider text_pattern_ops, user_id text_pattern_ops) where provider_subscription_id is null;
