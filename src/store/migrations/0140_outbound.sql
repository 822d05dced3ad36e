-- Changes for other programs, written in the transaction that makes them. No primary key and no index for intake to
-- maintain but that of rows without a position.
create table outbound_event (
  seq bigint not null generated always as identity,
  type text not null,
  -- Events of one subject are delivered in order: a subscription's id, or a hash of a user's.
  subject text not null,
  occurred_at timestamptz not null default clock_timestamp(),
  data json not null,
  -- Given by the relay after the commit, in the order of seq: who has read up to a position has missed nothing.
  position bigint,
  id text,
  user_id text
);

create index outbound_event_to_relay on outbound_event (seq) where position is null;
create unique index outbound_event_by_position on outbound_event (position) where position is not null;
create index outbound_event_by_user on outbound_event (user_id) where user_id is not null;

-- The relay's place; its row lock makes it one over all processes.
create table outbound_relay (
  only_one boolean primary key default true check (only_one),
  last_position bigint not null default 0,
  -- Events up to this position are no longer kept.
  dropped_until bigint not null default 0
);
insert into outbound_relay default values;

create table event_endpoint (
  id uuid primary key default gen_random_uuid(),
  -- One of them: an address, or a plugin's hook of this name.
  url text,
  hook text unique,
  types text[] not null,
  description text,
  enabled boolean not null default true,
  -- Needed to sign, so not only its hash is kept.
  secret text,
  previous_secret text,
  previous_secret_until timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  created_by text references "user" (id) on delete set null,
  -- Since when every attempt has failed.
  failing_since timestamptz,
  disabled_at timestamptz,
  check ((url is null) <> (hook is null)),
  check ((url is null) = (secret is null))
);

create index event_endpoint_by_creator on event_endpoint (created_by) where created_by is not null;

create table outbound_delivery (
  id bigint generated always as identity primary key,
  endpoint_id uuid not null references event_endpoint (id) on delete cascade,
  event_id text not null,
  event_type text not null,
  -- Of the event; null for a test.
  position bigint,
  subject text not null,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  attempts integer not null default 0,
  -- Null while an earlier event of the subject is pending. Also the lease of whoever is sending it.
  next_attempt_at timestamptz,
  give_up_at timestamptz not null,
  claim_no integer not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  completed_at timestamptz
);

create index outbound_delivery_by_endpoint on outbound_delivery (endpoint_id, id);
create index outbound_delivery_due on outbound_delivery (endpoint_id, next_attempt_at)
  where status = 'pending' and next_attempt_at is not null;
create index outbound_delivery_order on outbound_delivery (endpoint_id, subject, id) where status = 'pending';
create index outbound_delivery_failed on outbound_delivery (endpoint_id, id) where status = 'failed';
create index outbound_delivery_by_age on outbound_delivery (created_at) where status <> 'pending';

create table outbound_attempt (
  delivery_id bigint not null references outbound_delivery (id) on delete cascade,
  attempt integer not null,
  at timestamptz not null default clock_timestamp(),
  duration_ms double precision not null,
  -- Null: no response.
  response_status integer,
  error text,
  primary key (delivery_id, attempt)
);

-- Accounts change in many places, Better Auth and operators' SQL among them. An import sets tollgate.events to off.
create function emit_user_event() returns trigger language plpgsql as $$
declare
  row_json jsonb := to_jsonb(case when tg_op = 'DELETE' then old else new end);
begin
  if current_setting('tollgate.events', true) = 'off' then return null; end if;
  insert into outbound_event (type, subject, data) values (
    case tg_op when 'INSERT' then 'user.created' when 'UPDATE' then 'user.updated' else 'user.deleted' end,
    md5('user ' || (row_json ->> 'id')),
    json_build_object('id', row_json ->> 'id', 'externalId', row_json ->> 'external_id')
  );
  return null;
end $$;

create trigger emit_user_event after insert or delete on "user"
  for each row execute function emit_user_event();

create trigger emit_user_updated after update on "user"
  for each row when (
    (to_jsonb(old) - array['updated_at', 'onboarded', 'two_factor_enabled'])
      is distinct from (to_jsonb(new) - array['updated_at', 'onboarded', 'two_factor_enabled']))
  execute function emit_user_event();
