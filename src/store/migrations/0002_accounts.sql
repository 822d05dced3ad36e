-- Accounts: Better Auth's tables under its own column names, and what the gate needs besides.
alter table "user"
  add column banned boolean not null default false,
  add column ban_reason text,
  add column ban_expires timestamptz;

-- Cursor pages of all users, the oldest first.
create index user_by_age on "user" (created_at, id);
create index user_administrators on "user" (id) where role = 'admin';

create table session (
  id text primary key,
  user_id text not null references "user" (id) on delete cascade,
  token text not null unique,
  expires_at timestamptz not null,
  ip_address text,
  user_agent text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create index session_by_user on session (user_id);
create index session_by_expiry on session (expires_at);

create table account (
  id text primary key,
  user_id text not null references "user" (id) on delete cascade,
  account_id text not null,
  provider_id text not null,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamptz,
  refresh_token_expires_at timestamptz,
  scope text,
  password text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create index account_by_user on account (user_id);

create table verification (
  id text primary key,
  identifier text not null,
  value text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create index verification_by_identifier on verification (identifier);
-- Where Better Auth keeps whom a link is for.
create index verification_by_expiry on verification (expires_at);
create index verification_by_value on verification (value);

create table api_key (
  id uuid primary key,
  user_id text not null references "user" (id) on delete cascade,
  name text not null check (length(name) between 1 and 100),
  -- The first characters, shown to tell keys apart, and by which one is found.
  prefix text not null,
  -- SHA-256 of the whole key: the key itself is kept nowhere.
  hash bytea not null unique check (length(hash) = 32),
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz
);

create index api_key_by_user on api_key (user_id, created_at);
create index api_key_by_prefix on api_key (prefix);

create table notification (
  id bigint generated always as identity primary key,
  user_id text not null references "user" (id) on delete cascade,
  kind text not null,
  -- What it speaks of (a plan's id, a key's name); the words are found in the reader's language.
  details jsonb not null default '{}',
  created_at timestamptz not null default now(),
  read_at timestamptz
);

-- What their people were told last of subscriptions. Those of before count as told of: nobody is congratulated on an
-- old subscription at its next renewal.
alter table subscription
  add column told_standing text check (told_standing in ('active', 'past_due', 'canceled')),
  add column told_plan_id text;

update subscription set told_plan_id = plan_id, told_standing = case
  when status in ('active', 'trialing') then 'active'
  when status in ('past_due', 'unpaid') then 'past_due'
  when status = 'canceled' then 'canceled'
end;

create index notification_by_user on notification (user_id, id);
create index notification_unread on notification (user_id) where read_at is null;

-- What is still to be redacted from the log of deliveries, and how far that has come; null once nothing is.
alter table deleted_user add column to_redact jsonb;

create index deleted_user_to_redact on deleted_user (deleted_at) where to_redact is not null;
