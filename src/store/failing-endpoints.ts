import { IS_BANNED } from "./bans.ts";

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
