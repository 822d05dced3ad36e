import { beforeEach, expect, it } from "vitest";
import { outboundAllow } from "../../src/outbound/allowed-targets.ts";
import { startOutbound } from "../../src/outbound/outbound.ts";
import { newEndpointSecret } from "../../src/outbound/sign.ts";
import { insertEndpoint } from "../../src/store/outbound/event-endpoints.ts";
import { registerHooks } from "../../src/store/outbound/hook-endpoints.ts";
import { testDatabase } from "../support/test-database.ts";
import { ACCESS_CONTEXT } from "./access-context.ts";

const test = testDatabase(2);
beforeEach(async () => {
  await test.rows("truncate outbound_delivery, event_endpoint, notification cascade");
  await test.rows(`update "user" set role = 'admin' where id = 'user_1'`);
});

async function addFailing(
  failingSince: string,
  { createdBy = null }: { createdBy?: string | null } = {},
): Promise<string> {
  const { id } = await insertEndpoint(test.database, {
    url: "https://shop.example.com/events?token=secret",
    types: ["payment.paid"],
    description: null,
    secret: newEndpointSecret(),
    createdBy,
  });
  await test.rows("update event_endpoint set failing_since = now() - $1::interval where id = $2", [
    failingSince,
    id,
  ]);
  return id;
}

/** An event of the endpoint, which has been given up or is still being tried. */
async function addDelivery(endpointId: string, status: "failed" | "pending"): Promise<void> {
  await test.rows(
    `insert into outbound_delivery (endpoint_id, event_id, event_type, subject, status, attempts, give_up_at,
       next_attempt_at, completed_at)
     values ($1, 'evt_1', 'payment.paid', 'a', $2, 25, now() + interval '1 hour',
       case $2 when 'pending' then now() + interval '1 hour' end, case $2 when 'failed' then now() end)`,
    [endpointId, status],
  );
}

/** What a server does on its own when nothing happens. */
async function runOutbound(): Promise<void> {
  const outbound = startOutbound({
    ...ACCESS_CONTEXT,
    relayThread: null,
    database: test.database,
    allow: outboundAllow({ hosts: [], ranges: [] }),
    hooks: new Map(),
    log: { warn() {}, error() {} },
    now: Date.now,
    runsOn: "request",
  });
  expect(await outbound.runNow()).toBe("ok");
  await outbound.stop();
}

const enabled = () => test.rows("select enabled, disabled_at is not null as dated from event_endpoint");
const notified = () =>
  test.rows("select user_id, kind, details ->> 'endpointId' as endpoint from notification order by user_id");

it("disables an endpoint that has failed for five days although nothing more is sent to it", async () => {
  const endpoint = await addFailing("5 days", { createdBy: "user_1" });
  await addDelivery(endpoint, "failed");
  await runOutbound();
  expect(await enabled()).toEqual([{ enabled: false, dated: true }]);
  const once = [{ user_id: "user_1", kind: "event_endpoint_disabled", endpoint }];
  expect(await notified()).toEqual(once);
  await runOutbound();
  expect(await notified()).toEqual(once);
});

it("leaves an endpoint alone that has failed for less, or is about to be tried again", async () => {
  await addDelivery(await addFailing("119 hours"), "failed");
  // For instance after a server that was down for a week.
  await addDelivery(await addFailing("7 days"), "pending");
  await runOutbound();
  expect(await enabled()).toEqual([
    { enabled: true, dated: false },
    { enabled: true, dated: false },
  ]);
  expect(await notified()).toEqual([]);
});

it("never disables a plugin's hook to which nothing more is sent", async () => {
  await registerHooks(test.database, ["crm"], ["subscription.started"]);
  await test.rows("update event_endpoint set failing_since = now() - interval '6 days'");
  await runOutbound();
  expect(await enabled()).toEqual([{ enabled: true, dated: false }]);
});
