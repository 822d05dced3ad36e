-- Comparisons of subscriptions that are not flagged: an event could not be applied, or named no subscription.
alter table subscription_heal add column requested boolean not null default false;

create index subscription_heal_requested on subscription_heal (next_attempt_at) where requested;
