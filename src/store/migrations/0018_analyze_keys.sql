-- What PostgreSQL knew of the columns went with their old order.
analyze webhook_delivery (provider, event_id);
analyze subscription (provider, provider_subscription_id, customer_id);
