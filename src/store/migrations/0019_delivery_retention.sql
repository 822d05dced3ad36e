-- How far the log has been gone through for bodies that are not kept any longer: one row.
create table delivery_retention (
  only_one boolean primary key default true check (only_one),
  dropped_until bigint not null default 0,
  -- Deliveries before that which were still to be retried.
  open_ids bigint[] not null default '{}'
);

insert into delivery_retention default values;
