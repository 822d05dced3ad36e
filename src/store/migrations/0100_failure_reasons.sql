-- Why attempts failed, as identifiers with parameters beside the sentences. Null: they succeeded, or an earlier release
-- wrote the sentence alone.
alter table webhook_delivery
  add column last_reason text,
  add column first_reason_id text,
  add column first_reason_params json;

alter table webhook_attempt
  add column reason_id text,
  add column reason_params json;

create or replace view webhook_attempts as
select id as delivery_id, 1 as claim_no, first_source as source, first_outcome as outcome, first_reason as reason,
  received_at as started_at, first_duration_ms::double precision as duration_ms,
  first_subscription_id as subscription_id, first_changes as changes, first_changed_at as changed_at,
  first_reason_id as reason_id, first_reason_params as reason_params
from webhook_delivery where first_outcome is not null
union all
select delivery_id, claim_no, source, outcome, reason, started_at, duration_ms, subscription_id, changes, changed_at,
  reason_id, reason_params
from webhook_attempt a
where claim_no <> 1
  or not exists (select from webhook_delivery d where d.id = a.delivery_id and d.first_outcome is not null);
