-- Before when a notification is not to be mailed: null until somebody has looked, infinity once there is nothing left to
-- do. Those of before are not mailed any more.
alter table notification add column mail_after timestamptz default 'infinity';
alter table notification alter column mail_after drop default;

create index notification_to_mail on notification (created_at)
  where read_at is null and mail_after is distinct from 'infinity';
