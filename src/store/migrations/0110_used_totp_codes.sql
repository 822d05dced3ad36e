-- Codes of authenticator apps that have signed somebody in, as keyed hashes, for as long as they would be valid again.
create table used_totp_code (
  user_id text not null references "user" (id) on delete cascade,
  code text not null,
  used_at timestamptz not null default clock_timestamp(),
  primary key (user_id, code)
);

create index used_totp_code_by_age on used_totp_code (used_at);
