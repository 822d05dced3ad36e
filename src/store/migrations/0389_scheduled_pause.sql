-- Whether the provider pauses the subscription at the end of its period, where it can be scheduled (Paddle, Polar).
alter table subscription add column pauses_at_period_end boolean not null default false;
