create unique index concurrently subscription_nameless
  on subscription (provider text_pattern_ops, user_id text_pattern_ops, is_one_time) where provider_subscription_id is null;
