create index concurrently subscription_customer
  on subscription (provider collate "C", customer_id collate "C") where customer_id is not null;
