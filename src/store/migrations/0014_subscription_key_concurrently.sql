create unique index concurrently subscription_key
  on subscription (provider collate "C", provider_subscription_id collate "C");
