-- The keys are what most statements look up: their plans start from fresh statistics.
analyze webhook_delivery (provider, event_id);
analyze subscription (provider, provider_subscription_id, customer_id);
