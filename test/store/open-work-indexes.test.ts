import { expect, it } from "vitest";
import { fixtureDelivery } from "../fixtures/fixture.ts";
import { numberedEvent } from "../fixtures/numbered-event.ts";
import { freshServer } from "../support/fresh-server.ts";
import { deliverWebhook } from "../support/http.ts";
import { SECRETS } from "../support/variables.ts";

const { test, server } = freshServer({ users: 20, variables: { PROVIDER_C_ADAPTER: "lemon-squeezy" } });

/**
 * A B-tree gets a page with its first entry and never gives it back. Whatever was entered, and is dead since,
 * the retry job's queries read for as long as any old snapshot is held.
 */
async function pagesOfEntries(): Promise<Record<string, number>> {
  const rows = await test.rows<{ name: string; pages: number }>(
    `select relname as name, (pg_relation_size(oid) / current_setting('block_size')::int)::int - 1 as pages
     from pg_class where relname in ('webhook_delivery_failed', 'webhook_delivery_leased')`,
  );
  return Object.fromEntries(rows.map(({ name, pages }) => [name, pages]));
}

it("never enters a first delivery in the indexes of open work", async () => {
  const responses = await Promise.all(
    Array.from({ length: 50 }, (_, n) =>
      deliverWebhook(server.url, "provider-a", numberedEvent("written-once", n)),
    ),
  );
  expect(responses.map(({ status }) => status)).toEqual(Array(50).fill(200));
  expect(await test.rows("select count(*)::int as count from webhook_delivery")).toEqual([{ count: 50 }]);
  expect(await pagesOfEntries()).toEqual({ webhook_delivery_failed: 0, webhook_delivery_leased: 0 });
});

it("enters a delivery that is claimed first in the index of leases, though it has succeeded", async () => {
  const claimedFirst = fixtureDelivery("lemon-squeezy", "customer.subscription.created", {
    secret: SECRETS["provider-c"],
    nowSeconds: Math.floor(Date.now() / 1000),
    eventId: "claimed-first",
    userId: "user_0",
    planId: "team",
  });
  expect((await deliverWebhook(server.url, "provider-c", claimedFirst)).status).toBe(200);
  expect(await pagesOfEntries()).toEqual({ webhook_delivery_failed: 0, webhook_delivery_leased: 1 });
});
