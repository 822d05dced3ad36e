-- Since when a subscription is past due, for its days of grace. Subscriptions that are past due already start them now.
alter table subscription add column past_due_since timestamptz;

update subscription set past_due_since = clock_timestamp() where status = 'past_due';
