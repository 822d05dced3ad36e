import { afterAll, beforeAll, expect, it } from "vitest";
import { sendRequest } from "../../support/http.ts";
import { type ServerProcess, spawnServer } from "../../support/server-process.ts";
import { createServiceKey } from "../../support/service-keys.ts";
import { testDatabase } from "../../support/test-database.ts";

const SENDERS = 64;
const QUOTA = 1_000;
const AMOUNT = 7;

const test = testDatabase();
let servers: ServerProcess[];
beforeAll(async () => {
  servers = await Promise.all([spawnServer(test.url), spawnServer(test.url), spawnServer(test.url)]);
});
afterAll(() => Promise.all((servers ?? []).map((server) => server.end("SIGTERM"))));

it("counts a quota exactly with three processes and 64 senders", async () => {
  const { key } = await createServiceKey(test, { limit: 100_000 });
  let sent = 0;
  let admitted = 0;
  const send = async (sender: number) => {
    const { url } = servers[sender % servers.length] as ServerProcess;
    while (sent < 2 * (QUOTA / AMOUNT)) {
      sent += 1;
      const body = { user: "user_1", feature: "events", amount: AMOUNT, idempotencyKey: `use-${sent}` };
      const { status, text } = await sendRequest(url, "POST", "/api/usage", { key, body });
      expect([200, 409], text).toContain(status);
      if (status === 200) admitted += 1;
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, (_, sender) => send(sender)));
  expect(admitted).toBe(Math.floor(QUOTA / AMOUNT));
  const used = admitted * AMOUNT;
  expect(await test.rows("select used::int from usage_counter where user_id = 'user_1'")).toEqual([{ used }]);
  const remainder = { user: "user_1", feature: "events", amount: QUOTA - used, idempotencyKey: "rest" };
  const [first] = servers as [ServerProcess];
  const last = await sendRequest(first.url, "POST", "/api/usage", { key, body: remainder });
  expect(last.body).toEqual({ allowed: true, used: QUOTA, remaining: 0 });
}, 120_000);
