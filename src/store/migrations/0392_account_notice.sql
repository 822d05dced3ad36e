-- Mails that tell a person of a change of their account, until the mail server has accepted or rejected them: neither a crash
-- nor a mail server that is away for hours may lose one. They contain no link.
create table account_notice (
  id bigint generated always as identity primary key,
  user_id text not null references "user" (id) on delete cascade,
  kind text not null,
  created_at timestamptz not null default clock_timestamp(),
  -- While a server is sending it, the others wait.
  send_after timestamptz not null
);
create index account_notice_by_user on account_notice (user_id);
