-- Keys of other programs, made by administrators; they act for the users that they name.
create table service_key (
  id uuid primary key,
  name text not null check (length(name) between 1 and 100),
  permissions text[] not null check (cardinality(permissions) > 0),
  limit_requests integer not null check (limit_requests > 0),
  limit_seconds integer not null check (limit_seconds > 0),
  -- null: the operator, or an account that was deleted.
  created_by text references "user" (id) on delete set null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz
);

create index service_key_by_time on service_key (created_at, id);
create index service_key_by_creator on service_key (created_by) where created_by is not null;

-- After a rotation the secret before the newest one stays valid for a day; older ones are not.
create table service_key_secret (
  -- SHA-256 of the whole key: the key itself is not stored.
  hash bytea primary key check (length(hash) = 32),
  service_key_id uuid not null references service_key (id) on delete cascade,
  prefix text not null,
  created_at timestamptz not null default clock_timestamp()
);

create index service_key_secret_by_key on service_key_secret (service_key_id, created_at);
create index service_key_secret_by_prefix on service_key_secret (prefix);

-- The id of a user in another system.
alter table "user" add column external_id text collate "C";
