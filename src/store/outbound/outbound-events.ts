import type { Queryable } from "../database.ts";

const REDACT = {
  name: "redact_outbound_events",
  text: `
update outbound_event e
set user_id = null, data = (
  case when e.type like 'user.%' then e.data::jsonb || '{"externalId": null}'
  else e.data::jsonb || '{"userId": null, "externalId": null}'
    || case when e.data::jsonb ? 'subscription'
      then jsonb_build_object('subscription', (e.data::jsonb -> 'subscription') || '{"userId": null}') else '{}' end
    || case when e.data::jsonb ? 'payment'
      then jsonb_build_object('payment', (e.data::jsonb -> 'payment') || '{"receiptUrl": null}') else '{}' end
  end)::json
where e.user_id = $1::text or (e.position is null and $1::text in (
  e.data -> 'subscription' ->> 'userId', e.data ->> 'userId', e.data ->> 'id'))`,
};

/** Removes a deleted user from earlier events. The relay must be kept out meanwhile, see `waitForRelay`. */
export async function redactEventsOfUser(transaction: Queryable, userId: string): Promise<void> {
  await transaction.run(REDACT, [userId]);
}
