-- Since when a provider's API key has been in use: keys that expire do not all carry the date.
create table provider_key (
  provider text not null,
  -- SHA-256 of the whole key: the key itself is kept nowhere.
  hash bytea not null check (length(hash) = 32),
  first_used_at timestamptz not null default now(),
  primary key (provider, hash)
);
