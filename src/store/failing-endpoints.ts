import { IS_BANNED } from "./bans.ts";
import type { Queryable } from "./database.ts";

/** How long every attempt has to have failed before an endpoint is disabled. */
export const FAILING_TIME = "interval '5 days'";

const IS_ADMINISTRATOR = `u.role = 'admin' and not ${IS_BANNED}`;

/**
 * Notifies whoever has added the endpoints in the CTE `disabled` (id, url, created_by). Somebody who is no
 * administrator any more can neither mend them nor is to see their addresses: then all administrators.
 */
export const NOTIFY_DISABLED = `
insert into notification (user_id, kind, details)
select u.id, 'event_endpoint_disabled', jsonb_build_object('endpointId', d.id, 'url', d.url)
from disabled d join "user" u on ${IS_ADMINISTRATOR} and (
  u.id = d.created_by
  or not exists (select from "user" u where u.id = d.created_by and ${IS_ADMINISTRATOR})
)`;

// While something is pending, its next attempt decides: a server that was down for days has to try first.
// Locked in the relay's order.
const DISABLE = {
  name: "disable_failing_endpoints",
  text: `
with failed as materialized (
  select p.id from event_endpoint p
  where p.enabled and p.hook is null and p.failing_since <= clock_timestamp() - ${FAILING_TIME}
    and not exists (select from outbound_delivery d where d.endpoint_id = p.id and d.status = 'pending')
  order by p.id for no key update
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
