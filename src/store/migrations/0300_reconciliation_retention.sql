-- How far the comparisons have been gone through for those that are not kept any longer: one row.
create table reconciliation_retention (
  only_one boolean primary key default true check (only_one),
  dropped_until bigint not null default 0
);

insert into reconciliation_retention default values;
