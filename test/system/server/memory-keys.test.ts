import { expect, it } from "vitest";
import { freshDatabase } from "../../support/database.ts";
import { sendRequest } from "../../support/http.ts";
import { startTestServer } from "../../support/server.ts";

it("holds RATE_LIMIT_MEMORY_KEYS keys, and refuses a new one while all of them are blocked", async () => {
  const test = await freshDatabase(0);
  const server = await startTestServer(test.url, {
    RATE_LIMIT_MEMORY_KEYS: "2",
    // Nothing expires while the test runs.
    RATE_LIMIT_API: "1/3600",
    TRUSTED_PROXIES: "1",
  });
  const statusFor = async (address: string) => {
    const headers = { "x-forwarded-for": address };
    return (await sendRequest(server.url, "GET", "/api/plans", { headers })).status;
  };
  expect(await statusFor("192.0.2.1")).toBe(200);
  expect(await statusFor("192.0.2.2")).toBe(200);
  expect(await statusFor("192.0.2.3")).toBe(429);
  await server.close();
  await test.drop();
});
