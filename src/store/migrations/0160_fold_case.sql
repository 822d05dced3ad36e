-- Lower case beyond ASCII, whatever the locale of the database: that of the embedded one is C, in which lower() knows ASCII alone.
do $$
declare
  folding text := (
    select 'collate pg_catalog.' || quote_ident(collname) from pg_collation
    where collnamespace = 'pg_catalog'::regnamespace and collname in ('pg_c_utf8', 'und-x-icu')
      and collencoding in (-1, (select encoding from pg_database where datname = current_database()))
    order by collname = 'und-x-icu' limit 1
  );
begin
  execute format(
    'create function fold_case(text) returns text language sql immutable parallel safe as %L',
    'select pg_catalog.lower($1 ' || coalesce(folding, '') || ')'
  );
end $$;
