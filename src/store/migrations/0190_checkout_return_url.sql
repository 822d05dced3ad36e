-- Part of what is ordered: a checkout leads back to where its order said.
alter table checkout add column if not exists return_url text;
