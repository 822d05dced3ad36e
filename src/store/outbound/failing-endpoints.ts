import type { Queryable } from "../database.ts";
import { isNotifiedOf } from "../notifications/notified-administrators.ts";

/** How long every attempt has to have failed before an endpoint is disabled. */
export const FAILING_TIME = "interval '5 days'";

/** Notifies of the endpoints in the CTE `disabled` (id, url, created_by). */
export const NOTIFY_DISABLED = `
insert into notification (user_id, kind, details)
select u.id, 'event_endpoint_disabled', jsonb_build_object('endpointId', d.id, 'url', d.url)
from disabled d join "user" u on ${isNotifiedOf("d.created_by")}`;

// While something is pending, its next attempt decides: a server that was down for days has to try first.
// One that is locked is being attempted or changed: whoever holds it decides.
const DISABLE = {
  name: "disable_failing_endpoints",
  text: `
with failed as materialized (
  select p.id from event_endpoint p
  where p.enabled and p.hook is null and p.failing_since <= clock_timestamp() - ${FAILING_TIME}
    and not exists (select from outbound_delivery d where d.endpoint_id = p.id and d.status = 'pending')
  for no key update skip locked
), disabled as (
  update event_endpoint p set enabled = false, disabled_at = clock_timestamp()
  from failed where p.id = failed.id
  returning p.id, p.url, p.created_by
)
${NOTIFY_DISABLED}`,
};

/**
 * Disables endpoints that failed until their last event was given up, a little before five days were over:
 * without another event no attempt would disable them.
 */
export async function disableFailingEndpoints(database: Queryable): Promise<void> {
  await database.run(DISABLE);
}
