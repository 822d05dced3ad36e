import { expect, it, vi } from "vitest";
import { createLog } from "../../src/observability/log.ts";
import { eventually } from "../support/eventually.ts";
import { startTestRuntime } from "../support/runtime.ts";
import { testDatabase } from "../support/test-database.ts";

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
