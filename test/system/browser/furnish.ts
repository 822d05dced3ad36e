import { administrator, ask, type SignedUp, signedUp } from "../../support/api-client.ts";
import { addUsers } from "../../support/database.ts";
import { numberedEvent } from "../../support/events.ts";
import { deliver } from "../../support/send.ts";
import type { Site } from "../../support/site.ts";
import { subscribed } from "./ways.ts";

export type Furnished = { admin: SignedUp; newcomer: SignedUp; failedId: string };

/** Something to be seen on every page: people, subscriptions, keys, deliveries that went well and one that did not. */
export async function furnish(site: Site): Promise<Furnished> {
  const admin = await administrator(site.url, site.test);
  const newcomer = await signedUp(site.url);
  await subscribed(site, admin, 5);
  await ask(site.url, "POST", "/api/api-keys", { cookie: admin.cookie, body: { name: "Nightly job" } });
  await addUsers(site.test, 12);
  for (let n = 0; n < 9; n += 1) await deliver(site.url, "provider-a", numberedEvent("furnished", n));
  // Of somebody whom nobody here knows.
  await deliver(site.url, "provider-a", numberedEvent("furnished", 15));
  await site.test.rows(
    "update subscription set out_of_order = true where provider_subscription_id like 'furnished-_'",
  );
  const [failed] = await site.test.rows<{ id: string }>(
    "select id::text from webhook_delivery where status = 'failed'",
  );
  return { admin, newcomer, failedId: failed?.id as string };
}
