import { expect, it, vi } from "vitest";
import { createLog } from "../../src/observability/log.ts";
import { fixtureDelivery } from "../fixtures/fixture.ts";
import { freshDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { startTestRuntime } from "../support/runtime.ts";
import { testDatabase } from "../support/test-database.ts";
import { SECRETS } from "../support/variables.ts";

const test = testDatabase(0);

it("is not ready without all migrations of its version, as after an older backup was restored", async () => {
  const runtime = await startTestRuntime(test.url);
  expect(await runtime.isReady()).toBe(true);
  const [last] = await test.rows<{ name: string }>(
    "delete from schema_migration where name = (select max(name) from schema_migration) returning name",
  );
  expect(await runtime.isReady()).toBe(false);
  await test.rows("insert into schema_migration (name) values ($1)", [last?.name]);
  expect(await runtime.isReady()).toBe(true);
  await runtime.close();
});

it("only logs that a comparison could not be requested, and requests none without a provider", async () => {
  const warn = vi.fn();
  const log = { ...createLog("silent"), warn };
  const variables = { SELF_HEAL: "on", PROVIDER_A_API_KEY: "sk_test_1" };
  const runtime = await startTestRuntime(test.url, variables, { log });
  for (const slot of ["provider-b", "provider-a"] as const)
    runtime.intake.requestComparison?.(slot, ["not an id"]);
  await eventually(async () => warn.mock.calls.length, 1);
  const facts = { err: expect.objectContaining({ code: "22P02" }), slot: "provider-a" };
  expect(warn.mock.calls).toEqual([[facts, "a comparison could not be requested"]]);
  await runtime.close();
});

it("requests no comparisons while SELF_HEAL is off, as nothing would make them", async () => {
  const runtime = await startTestRuntime(test.url, { SELF_HEAL: "off", PROVIDER_A_API_KEY: "sk_test_1" });
  expect(runtime.intake.requestComparison).toBeUndefined();
  await runtime.close();
});

// Those of provider-c are claimed before they are applied.
it.each([
  { slot: "provider-a", format: "stripe", message: "database unavailable: nothing was ingested" },
  { slot: "provider-c", format: "lemon-squeezy", message: "database unavailable: nothing was claimed" },
] as const)("logs some of the deliveries that find the database away: $format", async (of) => {
  const { slot, format, message } = of;
  const away = await freshDatabase(0);
  const warn = vi.fn();
  const log = { ...createLog("silent"), warn };
  const runtime = await startTestRuntime(away.url, { PROVIDER_C_ADAPTER: "lemon-squeezy" }, { log });
  await away.drop();
  for (let n = 0; n < 100; n += 1) {
    const { rawBody, headers } = fixtureDelivery(format, "customer.subscription.updated", {
      secret: SECRETS[slot],
      nowSeconds: Math.floor(Date.now() / 1000),
      eventId: `evt_${n}`,
    });
    const request = { rawBody, header: (name: string) => headers[name] };
    expect(await runtime.intake.receive(slot, request)).toMatchObject({ outcome: "unavailable" });
  }
  const written = warn.mock.calls.filter(([, text]) => text === message).length;
  expect(written).toBeGreaterThan(0);
  expect(written).toBeLessThan(100);
  await runtime.close();
});
