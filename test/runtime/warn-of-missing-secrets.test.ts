import { expect, it } from "vitest";
import { SLOTS } from "../../src/domain/slot.ts";
import { spawnServer } from "../support/server-process.ts";
import { testDatabase } from "../support/test-database.ts";

const test = testDatabase(0);

it("at a start, warns of each slot in use without a secret, and of no other", async () => {
  const server = await spawnServer(test.url, {
    ...Object.fromEntries(["A", "B", "C"].map((slot) => [`PROVIDER_${slot}_WEBHOOK_SECRET`, ""])),
    PROVIDER_B_API_KEY: "pdl_live_apikey_1",
    PROVIDER_B_API_URL: "http://127.0.0.1:9",
    RECONCILE: "off",
  });
  const warned = SLOTS.filter((slot) =>
    server.lines.some((line) => line.includes(`is not set: every delivery to ${slot} is refused`)),
  );
  // The first is that for new checkouts.
  expect(warned).toEqual(["provider-a", "provider-b"]);
  await server.end("SIGTERM");
});
