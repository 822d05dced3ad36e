-- What one process at a time may do: a job, or opening one person's checkout. A row whose time is over is free.
create table lease (
  name text primary key,
  -- Of whoever holds it: writes that depend on the lease require it.
  token uuid not null,
  held_until timestamptz not null
);

-- Only processes of earlier releases still read the leases that these tables had.
alter table nightly_reconcile alter column lease_until set default '-infinity';
alter table event_sweep alter column lease_until set default '-infinity';
alter table checkout alter column lease_until set default '-infinity';
