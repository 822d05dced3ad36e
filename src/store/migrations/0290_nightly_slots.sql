-- The slots that have been compared in the night: servers may have the API keys of different ones. Null: a process of an
-- earlier release has compared whatever it could.
alter table nightly_reconcile add column compared text[];
