-- An import under way: the next run with the same input continues it. Deleted once it is done.
create table import_run (
  -- A hash of the input.
  id text primary key,
  -- The position in the source; null before the first page.
  position text,
  created integer not null default 0,
  updated integer not null default 0,
  skipped integer not null default 0,
  updated_at timestamptz not null default now()
);

-- What it has left out so far.
create table import_unmatched (
  import_id text not null references import_run (id) on delete cascade,
  place bigint generated always as identity,
  entry json not null,
  primary key (import_id, place)
);

-- The id of a user in another system.
alter table "user" add column if not exists external_id text collate "C";
