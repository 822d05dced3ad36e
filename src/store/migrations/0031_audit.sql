-- What administrators, operators and keys did. No foreign keys: entries outlive what they name.
create table audit_entry (
  id bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  -- database: a change that was made with SQL.
  actor_kind text not null check (actor_kind in ('session', 'api-key', 'service-key', 'operator', 'database')),
  actor_id text,
  key_id text,
  address text,
  action text not null check (length(action) between 1 and 100),
  target_type text not null,
  target_id text not null,
  details jsonb not null default '{}'
);

create index audit_entry_by_time on audit_entry (at);
create index audit_entry_by_action on audit_entry (action, id);
create index audit_entry_by_actor on audit_entry (actor_id, id) where actor_id is not null;
create index audit_entry_by_target on audit_entry (target_id, id);

-- Append-only, for operators' SQL too; entries can be deleted once they are as old as the shortest retention.
create function keep_audit_entry() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and old.at < now() - interval '30 days' then return old; end if;
  raise exception 'audit entries are append-only' using errcode = 'insufficient_privilege';
end $$;

create trigger keep_audit_entry before update or delete on audit_entry
  for each row execute function keep_audit_entry();

-- Bans are set with SQL alone.
create function audit_ban() returns trigger language plpgsql as $$
begin
  insert into audit_entry (actor_kind, action, target_type, target_id, details)
  values ('database', case when new.banned then 'user.banned' else 'user.unbanned' end, 'user', new.id,
    jsonb_strip_nulls(jsonb_build_object('until', new.ban_expires)));
  return null;
end $$;

create trigger audit_ban after update of banned, ban_expires on "user"
  for each row when (old.banned is distinct from new.banned or old.ban_expires is distinct from new.ban_expires)
  execute function audit_ban();
