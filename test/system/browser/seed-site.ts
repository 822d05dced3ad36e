import { addUsers } from "../../support/database.ts";
import { numberedEvent } from "../../support/events.ts";
import { deliverWebhook, sendRequest } from "../../support/http.ts";
import { createAdmin, createUser, type TestUser } from "../../support/people.ts";
import type { Site } from "../../support/site.ts";
import { subscribe } from "./page-actions.ts";

export type SeededSite = {
  admin: TestUser;
  newcomer: TestUser;
  failedId: string;
  outOfOrderId: string;
  endpointId: string;
};

/** Content for every page: users, subscriptions, keys, successful deliveries and a failed one. */
export async function seedSite(site: Site): Promise<SeededSite> {
  const admin = await createAdmin(site.test);
  const newcomer = await createUser(site.test);
  await subscribe(site, admin, 5);
  await sendRequest(site.url, "POST", "/api/api-keys", {
    cookie: admin.cookie,
    body: { name: "Nightly job" },
  });
  await addUsers(site.test, 12);
  for (let n = 0; n < 9; n += 1) await deliverWebhook(site.url, "provider-a", numberedEvent("seeded", n));
  // Of an unknown user.
  await deliverWebhook(site.url, "provider-a", numberedEvent("seeded", 15));
  // Not retried by webhook-retry: the tests read its first attempt.
  await site.test.rows(
    "update webhook_delivery set next_attempt_at = now() + interval '1 day' where status = 'failed'",
  );
  await site.test.rows(
    "update subscription set out_of_order = true where provider_subscription_id like 'seeded-_'",
  );
  const [failed] = await site.test.rows<{ id: string }>(
    "select id::text from webhook_delivery where status = 'failed'",
  );
  const [outOfOrder] = await site.test.rows<{ id: string }>(
    "select id::text from subscription where provider_subscription_id = 'seeded-8'",
  );
  const { id: endpointId } = await failingEndpoint(site);
  return {
    admin,
    newcomer,
    failedId: failed?.id as string,
    outOfOrderId: outOfOrder?.id as string,
    endpointId,
  };
}

/** Disabled, so that nothing is sent to it, with a delivery that failed twice and one that succeeded. */
async function failingEndpoint({ test }: Site): Promise<{ id: string }> {
  const [endpoint] = await test.rows<{ id: string }>(
    `insert into event_endpoint (url, types, description, secret, enabled, failing_since, disabled_at)
     values ('https://events.example.com/tollgate/hook', '{user.updated,subscription.changed}', 'Data warehouse',
       'whsec_AAAA', false, now() - interval '6 days', now() - interval '1 day') returning id`,
  );
  await test.rows(
    `with delivery as (
       insert into outbound_delivery (endpoint_id, event_id, event_type, subject, status, attempts, give_up_at, completed_at)
       values ($1, 'evt_furnished_1', 'user.updated', 'user 1', 'delivered', 1, now(), now()),
         ($1, 'evt_furnished_2', 'subscription.changed', 'subscription 1', 'failed', 2, now(), now())
       returning id, status, attempts)
     insert into outbound_attempt (delivery_id, attempt, at, duration_ms, response_status, error)
     select id, n, now() - interval '1 hour' / n, 120, case status when 'failed' then 500 else 204 end,
       case status when 'failed' then 'the endpoint answered 500' end
     from delivery, generate_series(1, attempts) n`,
    [endpoint?.id],
  );
  return { id: endpoint?.id as string };
}
