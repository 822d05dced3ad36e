create unique index concurrently subscription_nameless_key
  on subscription (provider collate "C", user_id collate "C") where provider_subscription_id is null;
