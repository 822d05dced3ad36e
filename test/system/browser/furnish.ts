import { addUsers } from "../../support/database.ts";
import { numberedEvent } from "../../support/events.ts";
import { deliverWebhook, sendRequest } from "../../support/http.ts";
import { signUp, signUpAdmin, type TestUser } from "../../support/people.ts";
import type { Site } from "../../support/site.ts";
import { subscribed } from "./ways.ts";

export type Furnished = { admin: TestUser; newcomer: TestUser; failedId: string; outOfOrderId: string };

/** Something to be seen on every page: people, subscriptions, keys, deliveries that went well and one that did not. */
export async function furnish(site: Site): Promise<Furnished> {
  const admin = await signUpAdmin(site.url, site.test);
  const newcomer = await signUp(site.url);
  await subscribed(site, admin, 5);
  await sendRequest(site.url, "POST", "/api/api-keys", {
    cookie: admin.cookie,
    body: { name: "Nightly job" },
  });
  await addUsers(site.test, 12);
  for (let n = 0; n < 9; n += 1) await deliverWebhook(site.url, "provider-a", numberedEvent("furnished", n));
  // Of an unknown user.
  await deliverWebhook(site.url, "provider-a", numberedEvent("furnished", 15));
  // Not retried by webhook-retry: the tests read its first attempt.
  await site.test.rows(
    "update webhook_delivery set next_attempt_at = now() + interval '1 day' where status = 'failed'",
  );
  await site.test.rows(
    "update subscription set out_of_order = true where provider_subscription_id like 'furnished-_'",
  );
  const [failed] = await site.test.rows<{ id: string }>(
    "select id::text from webhook_delivery where status = 'failed'",
  );
  const [outOfOrder] = await site.test.rows<{ id: string }>(
    "select id::text from subscription where provider_subscription_id = 'furnished-8'",
  );
  return { admin, newcomer, failedId: failed?.id as string, outOfOrderId: outOfOrder?.id as string };
}
