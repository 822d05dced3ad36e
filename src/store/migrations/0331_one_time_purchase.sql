-- Bought with a single payment: no subscription that its person buys later takes it over.
alter table subscription add column is_one_time boolean not null default false;
