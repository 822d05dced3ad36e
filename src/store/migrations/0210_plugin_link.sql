-- Secret addresses of plugins, for programs that cannot send a header: one per person and plugin.
create table plugin_link (
  id uuid primary key default gen_random_uuid(),
  user_id text not null references "user" (id) on delete cascade,
  plugin text not null,
  -- SHA-256 of the secret: the secret itself is not stored.
  hash bytea not null unique check (length(hash) = 32),
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  unique (user_id, plugin)
);
