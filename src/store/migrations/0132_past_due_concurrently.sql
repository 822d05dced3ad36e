-- By a column that few subscriptions have: a condition on `status` would make every change of status an update of indexes.
create index concurrently subscription_past_due on subscription (past_due_since) where past_due_since is not null;
