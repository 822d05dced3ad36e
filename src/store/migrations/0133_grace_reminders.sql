-- Which reminders of a failed renewal a person has been sent: each once.
create table grace_reminder (
  subscription_id uuid not null references subscription (id) on delete cascade,
  past_due_since timestamptz not null,
  stage text not null check (stage in ('middle', 'last_day')),
  sent_at timestamptz not null default clock_timestamp(),
  primary key (subscription_id, past_due_since, stage)
);
