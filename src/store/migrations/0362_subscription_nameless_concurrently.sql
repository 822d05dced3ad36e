create unique index concurrently subscription_nameless
  on subscription (provider text_pattern_ops, user_id text_pattern_ops, is_one_time, (case when is_one_time then plan_id else '' end))
  where provider_subscription_id is null and payment_id is null;
