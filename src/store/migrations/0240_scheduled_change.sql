-- What a subscription changes to at the end of its period, as it was ordered here: providers report only the result.
create table scheduled_change (
  subscription_id uuid primary key references subscription on delete cascade,
  plan_id text not null,
  seats integer not null,
  takes_effect_at timestamptz not null
);
create index scheduled_change_takes_effect_at on scheduled_change (takes_effect_at);
