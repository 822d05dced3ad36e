-- A first delivery is written once, in its final state, with what its first attempt did. Null: the first attempt is a row
-- of webhook_attempt, or not over yet. No defaults and no checks: both would make PostgreSQL read the whole table.
alter table webhook_delivery
  add column first_source text,
  add column first_outcome text,
  add column first_reason text,
  add column first_duration_ms real,
  add column first_subscription_id uuid,
  add column first_changes json,
  add column first_changed_at timestamptz,
  -- Claims that a time-out of the database ended: they fence like any other, but are no attempts. Null: none.
  add column released_claims integer,
  add column released_claim_no integer;

-- Every attempt. Servers of the release before write a row for a first attempt that is here already: it does not count.
create view webhook_attempts as
select id as delivery_id, 1 as claim_no, first_source as source, first_outcome as outcome, first_reason as reason,
  received_at as started_at, first_duration_ms::double precision as duration_ms,
  first_subscription_id as subscription_id, first_changes as changes, first_changed_at as changed_at
from webhook_delivery where first_outcome is not null
union all
select delivery_id, claim_no, source, outcome, reason, started_at, duration_ms, subscription_id, changes, changed_at
from webhook_attempt a
where claim_no <> 1
  or not exists (select from webhook_delivery d where d.id = a.delivery_id and d.first_outcome is not null);

-- Compressing a payload of 4 KB with pglz costs more than the rest of its event. Builds without lz4 keep pglz.
do $$
begin
  alter table webhook_delivery alter column payload set compression lz4;
exception when feature_not_supported then null;
end
$$;
