-- Whether the provider had disabled our endpoint at the last sweep: events of that time exist nowhere.
alter table event_sweep add column endpoint_disabled boolean not null default false;
