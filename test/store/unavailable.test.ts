import dns from "node:dns";
import { expect, it, vi } from "vitest";
import { Refusal } from "../../src/domain/refusals/refusal.ts";
import { DatabaseUnavailable, openDatabase } from "../../src/store/database.ts";

/** As the pages' bundle defines them. */
const copies = {
  DatabaseUnavailable: class extends Error {
    override name = "DatabaseUnavailable";
  },
  Refusal: class extends Error {
    get [Symbol.for("tollgate.refusal")]() {
      return true;
    }
  },
};

it("recognises errors that come from another bundle", () => {
  expect(new copies.DatabaseUnavailable()).toBeInstanceOf(DatabaseUnavailable);
  expect(new copies.Refusal()).toBeInstanceOf(Refusal);
  expect(new copies.Refusal()).not.toBeInstanceOf(DatabaseUnavailable);
  expect(Object.assign(new Error("x"), { name: "Refusal" })).not.toBeInstanceOf(Refusal);
  for (const thrown of [null, undefined, "Refusal", { name: "Refusal" }])
    expect(thrown instanceof Refusal).toBe(false);
});

it("says why none of a host's addresses can be reached", async () => {
  const addresses = ["127.0.0.1", "127.0.0.2"].map((address) => ({ address, family: 4 }));
  const lookup = (_host: string, _options: object, callback: (...found: unknown[]) => void) =>
    callback(null, addresses);
  vi.spyOn(dns, "lookup").mockImplementation(lookup as unknown as typeof dns.lookup);
  const database = openDatabase({
    url: "postgres://somebody@two-addresses:1/tollgate",
    prepared: true,
    maxConnections: 1,
    answerTimeoutMs: 5_000,
  });
  try {
    await expect(database.run({ name: "ping", text: "select 1" })).rejects.toThrow("ECONNREFUSED");
  } finally {
    vi.restoreAllMocks();
    await database.close();
  }
});
