import { expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { spawnServer } from "../support/server-process.ts";
import { createSubscription } from "../support/subscriptions.ts";
import { testDatabase } from "../support/test-database.ts";

const test = testDatabase(2);

it("at a start, warns of each plan that somebody has and plans.config.ts lacks", async () => {
  await createSubscription(test, "user_0", { plan_id: "pro" });
  await createSubscription(test, "user_0", { plan_id: "gold" });
  await createSubscription(test, "user_1", { plan_id: "gold" });
  await createSubscription(test, "user_1", { plan_id: "former", status: "canceled" });
  const server = await spawnServer(test.url, { RECONCILE: "off" });
  const warned = async () =>
    server.lines.filter((line) => line.includes("lacks a plan that has subscribers"));
  await eventually(async () => (await warned()).length, 1);
  expect(JSON.parse((await warned())[0] ?? "")).toMatchObject({ planId: "gold", subscriptions: 2 });
  await server.end("SIGTERM");
});
