import { expect, it } from "vitest";
import { answerTimeoutMs, effectLimits } from "../../src/intake/transaction-limits.ts";
import { numberedEvent } from "../fixtures/numbered-event.ts";
import { freshDatabase } from "../support/database.ts";
import { deliverWebhook, sendRequest } from "../support/http.ts";
import { createUser } from "../support/people.ts";
import { startTestRuntime } from "../support/runtime.ts";
import { startTestServer } from "../support/server.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { GENEROUS_LIMITS } from "../support/variables.ts";

it("returns 503 while PostgreSQL is stopped, however long the lease of the intake", async () => {
  const test = await freshDatabase();
  const user = await createUser(test);
  const proxy = await startTcpProxy(Number(new URL(test.url).port));
  const url = Object.assign(new URL(test.url), { port: `${proxy.port}` }).href;
  const server = await startTestServer(url, { ...GENEROUS_LIMITS, WEBHOOK_LEASE_SECONDS: "3600" });
  const readUser = () => sendRequest(server.url, "GET", "/api/users/me", { cookie: user.cookie });
  expect(await readUser()).toMatchObject({ status: 200 });
  // Its answers no longer arrive, as those of a process that is stopped.
  proxy.set({ toClient: "held" });
  const [read, delivered] = await Promise.all([
    readUser(),
    deliverWebhook(server.url, "provider-a", numberedEvent("stopped", 1)),
  ]);
  expect([read.status, delivered.status]).toEqual([503, 503]);
  proxy.set({ toClient: "flows" });
  await server.close();
  await proxy.close();
  await test.drop();
});

it("has PostgreSQL end a single statement before it stops waiting for it", async () => {
  const test = await freshDatabase(0);
  const runtime = await startTestRuntime(test.url);
  const timeout = { name: "timeout", text: "select current_setting('statement_timeout') as timeout" };
  expect(await runtime.database.run(timeout)).toEqual([{ timeout: "5s" }]);
  expect(runtime.connecting.answerTimeoutMs).toBe(10_000);
  await runtime.close();
  await test.drop();
});

it.each([
  [1, 5_000, 283],
  [30, 10_000, 9_950],
  [3_600, 30_000, 29_950],
])(
  "has the intake wait for PostgreSQL longer than for a statement, with a lease of %i s",
  (leaseSeconds, waitMs, statementMs) => {
    expect(answerTimeoutMs({ leaseSeconds })).toBe(waitMs);
    expect(effectLimits({ leaseSeconds }).statementTimeoutMs).toBe(statementMs);
  },
);
