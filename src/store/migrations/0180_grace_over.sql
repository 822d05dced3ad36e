-- The end of a grace period is recorded with its reminders: it changes what the person may use, though nothing is written.
alter table grace_reminder drop constraint grace_reminder_stage_check;
alter table grace_reminder add constraint grace_reminder_stage_check
  check (stage in ('middle', 'last_day', 'over')) not valid;
alter table grace_reminder validate constraint grace_reminder_stage_check;
