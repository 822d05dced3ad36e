import type { Slot } from "../../domain/slot.ts";
import type { Queryable } from "../database.ts";
import { IS_ADMINISTRATOR } from "../users/bans.ts";

const INSERT = {
  name: "notify_unknown_owner",
  text: `
insert into notification (user_id, kind, details)
select u.id, 'owner_unknown', given.details
from (select jsonb_build_object('provider', $1::text, 'subscription', $2::text) as details) given, "user" u
where ${IS_ADMINISTRATOR} and not exists (
  select from notification n
  where n.user_id = u.id and n.kind = 'owner_unknown' and n.details = given.details
)`,
};

/** Notifies each administrator, once, of a subscription that belongs to none of our users. */
export async function notifyUnknownOwner(
  database: Queryable,
  { provider, providerSubscriptionId }: { provider: Slot; providerSubscriptionId: string },
): Promise<void> {
  await database.run(INSERT, [provider, providerSubscriptionId]);
}
