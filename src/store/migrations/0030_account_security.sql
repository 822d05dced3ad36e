-- Two-factor sign-in: Better Auth's plugin keeps its secrets there, encrypted.
alter table "user" add column two_factor_enabled boolean not null default false;

create table two_factor (
  id text primary key,
  user_id text not null unique references "user" (id) on delete cascade,
  secret text not null,
  backup_codes text not null,
  verified boolean not null default false,
  failed_verification_count integer not null default 0,
  locked_until timestamptz
);

-- A change of e-mail address, until both addresses have confirmed it. Tokens as SHA-256.
create table email_change (
  user_id text primary key references "user" (id) on delete cascade,
  new_email text not null,
  old_token bytea not null unique,
  new_token bytea not null unique,
  old_confirmed_at timestamptz,
  new_confirmed_at timestamptz,
  expires_at timestamptz not null
);

create index email_change_by_expiry on email_change (expires_at);

-- Wrong passwords per account (keyed hash of the address), network or session's user.
create table sign_in_failure (
  key text primary key,
  failures integer not null,
  first_at timestamptz not null default clock_timestamp(),
  last_at timestamptz not null default clock_timestamp()
);

create index sign_in_failure_by_age on sign_in_failure (last_at);

-- When mails were last sent to an address (keyed hash).
create table mail_recipient (
  key text primary key,
  sent_at timestamptz[] not null,
  last_at timestamptz not null default clock_timestamp()
);

create index mail_recipient_by_age on mail_recipient (last_at);

-- When the owner was told that the key expires; those of before never expire unless they say so.
alter table api_key add column expiry_notified_at timestamptz;

create index api_key_to_notify on api_key (expires_at)
  where expires_at is not null and revoked_at is null and expiry_notified_at is null;
