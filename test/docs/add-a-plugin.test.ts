import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { loadPlugins } from "../../src/api/plugins.ts";
import { readConfig } from "../../src/config/config.ts";
import { createLog } from "../../src/observability/log.ts";
import { loadHooks } from "../../src/runtime/load-hooks.ts";
import { type RunningServer, startServer } from "../../src/server.ts";
import { fixtureDelivery } from "../fixtures/fixture.ts";
import type { FixtureOverrides } from "../fixtures/overrides.ts";
import { type Receiver, startReceiver } from "../outbound/receiver.ts";
import { freshDatabase, type TestDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { deliverWebhook } from "../support/http.ts";
import { SECRETS, serverVariables } from "../support/variables.ts";

const PAGE = new URL("../../docs/how-to/add-a-plugin.md", import.meta.url);

let test: TestDatabase;
let server: RunningServer;
let crm: Receiver;
let folder: string;
let isCrmBroken = true;
beforeAll(async () => {
  test = await freshDatabase();
  await test.rows("create table seat_count (plan_id text primary key, seats integer not null)");
  crm = await startReceiver((response) => void response.writeHead(isCrmBroken ? 500 : 200).end());
  process.env.CRM_URL = crm.url;
  folder = await mkdtemp(join(tmpdir(), "tollgate-plugin-"));
  const [, code] = (await readFile(PAGE, "utf8")).match(/```ts\n(.*?)```/s) as RegExpMatchArray;
  await writeFile(join(folder, "seat-count.ts"), code as string);
  const config = readConfig({ ...serverVariables(test.url), LOG_LEVEL: "silent" });
  server = await startServer(config, {
    log: createLog("silent"),
    hooks: await loadHooks(folder),
    hookTimeoutMs: 60_000,
  });
});
afterAll(async () => {
  await server?.close();
  await crm?.close();
  await test?.drop();
  delete process.env.CRM_URL;
  if (folder) await rm(folder, { recursive: true, force: true });
});

let count = 0;

async function deliver(kind: string, overrides: FixtureOverrides = {}): Promise<void> {
  count += 1;
  const delivery = fixtureDelivery("stripe", kind, {
    secret: SECRETS["provider-a"],
    nowSeconds: Math.floor(Date.now() / 1000),
    eventId: `evt_${count}`,
    subscriptionId: "sub",
    customerId: "cus",
    userId: "user_1",
    occurredAt: new Date(Date.UTC(2026, 0, 1) + count * 60_000),
    planId: "team",
    priceId: "price_team_monthly",
    seats: 5,
    status: "active",
    ...overrides,
  });
  expect((await deliverWebhook(server.url, "provider-a", delivery)).status).toBe(200);
}

const seatCounts = () => test.rows("select plan_id as plan, seats from seat_count order by plan_id");
const PRO = { planId: "pro", priceId: "price_pro_monthly", seats: 1 };

it("loads as a plugin without routes", async () => {
  expect(await loadPlugins(folder)).toMatchObject([{ name: "seat-count", router: { routes: [] } }]);
});

it("writes in the transaction of each change, and retries its call after the commit, in order, until it succeeds", async () => {
  // From its first start on: the first pass of the relay registers it.
  await eventually(() => test.rows("select hook from event_endpoint"), [{ hook: "seat-count" }]);
  await deliver("customer.subscription.created");
  await deliver("customer.subscription.updated", { seats: 8 });
  expect(await seatCounts()).toEqual([{ plan: "team", seats: 8 }]);
  await deliver("customer.subscription.updated", PRO);
  expect(await seatCounts()).toEqual([
    { plan: "pro", seats: 1 },
    { plan: "team", seats: 0 },
  ]);
  // `attempts` counts one before it is made: the plugin's call may still be on its way.
  const pending = () =>
    test.rows(
      `select exists (select from outbound_attempt where delivery_id = d.id) as tried
       from outbound_delivery d where status = 'pending' order by id`,
    );
  // The first has failed, and the others wait for it.
  await eventually(pending, [{ tried: true }, { tried: false }, { tried: false }]);
  isCrmBroken = false;
  await test.rows("update outbound_delivery set next_attempt_at = now() where next_attempt_at is not null");
  await eventually(pending, []);
  const ids = crm.received.map(({ headers }) => headers["idempotency-key"]);
  expect(ids.length).toBeGreaterThan(3);
  const bodies = new Map(crm.received.map(({ body }, index) => [ids[index], JSON.parse(body)]));
  expect([...bodies.values()].map(({ type, plan }) => `${type} ${plan}`)).toEqual([
    "subscription.started team",
    "subscription.changed team",
    "subscription.changed pro",
  ]);
});
