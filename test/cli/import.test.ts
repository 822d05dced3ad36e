import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { emptyDatabase } from "../support/database.ts";
import { STRIPE_KEY, stripeServer } from "../support/stripe-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { testDatabase } from "../support/test-database.ts";
import { serverVariables } from "../support/variables.ts";
import { type Tollgate, tollgateIn } from "./tollgate.ts";

const test = testDatabase(0);
let tollgate: Tollgate;
let folder: string;
beforeAll(async () => {
  tollgate = tollgateIn(serverVariables(test.url));
  folder = await temporaryFolder();
});

async function fileOf(name: string, content: string): Promise<string> {
  await writeFile(join(folder, name), content);
  return join(folder, name);
}

describe("import users", () => {
  it("begins anew with another account's key, whose list has no such position", async () => {
    const stripe = await stripeServer();
    onTestFinished(() => stripe.close());
    const withKey = (key: string) => {
      stripe.key = key;
      const access = { PROVIDER_A_API_KEY: key, PROVIDER_A_API_URL: stripe.url };
      return tollgateIn({ ...serverVariables(test.url), ...access })("import", "users", "--from", "stripe");
    };
    const customer = { id: "cus_1", object: "customer", email: "cus_1@example.com", metadata: {} };
    let pages = 0;
    stripe.interfere(async ({ path }) => {
      if (path !== "/v1/customers") return undefined;
      pages += 1;
      return pages === 1
        ? { status: 200, body: { object: "list", data: [customer], has_more: true } }
        : { status: 400 };
    });
    expect(await withKey("sk_test_1")).toMatchObject({ code: 1 });
    const interrupted = () => test.rows("select position, created from import_run");
    expect(await interrupted()).toEqual([{ position: "cus_1", created: 1 }]);
    stripe.interfere(null);
    expect(await withKey("sk_live_1")).toMatchObject({ code: 0 });
    expect(await interrupted()).toEqual([{ position: "cus_1", created: 1 }]);
    expect(await withKey("sk_test_1")).toMatchObject({ code: 0 });
    expect(await interrupted()).toEqual([]);
  });

  it("prints what it has done, and exits 0 with rows left out", async () => {
    const file = await fileOf("users.csv", "id,email\nann,ann@example.com\nbob,nobody\n");
    const unmatched = [
      { line: 3, id: "bob", externalId: null, email: "nobody", reason: "email: expected an email address" },
    ];
    expect(await tollgate.json("import", "users", "--from", file, "--dry-run")).toEqual({
      created: 1,
      updated: 0,
      skipped: 0,
      unmatched,
    });
    const { code, stdout, stderr } = await tollgate("import", "users", "--from", file);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(
      /^1 created, 0 updated, 0 unchanged, 1 left out\n[\s\S]*line 3 bob nobody +email: expected an email address/,
    );
    expect(await tollgate.json("import", "users", "--from", file)).toMatchObject({ created: 0, skipped: 1 });
  });

  it("fails with one sentence for a source that it cannot read", async () => {
    const other = await emptyDatabase();
    const failures: [string[], RegExp][] = [
      [["--from", join(folder, "missing.csv")], /missing\.csv does not exist/],
      [
        ["--from", "better-auth", "--database-url", other.url],
        /"user" with a column id: check --database-url\n$/,
      ],
      [["--from", "stripe"], /^no slot has an API key of Stripe/],
    ];
    for (const [args, sentence] of failures) {
      const { code, stdout, stderr } = await tollgate("import", "users", ...args);
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toMatch(sentence);
    }
    await other.drop();
  });
});

describe("import subscriptions", () => {
  it("prints the same counts as an import of users, and how many payments in its text only", async () => {
    const stripe = await stripeServer();
    onTestFinished(() => stripe.close());
    const access = { PROVIDER_A_API_KEY: STRIPE_KEY, PROVIDER_A_API_URL: stripe.url };
    const withStripe = tollgateIn({ ...serverVariables(test.url), ...access });
    const words = ["import", "subscriptions", "--slot", "provider-a"];
    expect(await withStripe.json(...words)).toEqual({ created: 0, updated: 0, skipped: 0, unmatched: [] });
    expect(await withStripe(...words)).toMatchObject({
      stdout: "0 created, 0 updated, 0 unchanged, 0 left out; 0 payments recorded\n",
    });
  });

  it("requires a slot with API credentials, and a readable mapping", async () => {
    expect(await tollgate("import", "subscriptions")).toMatchObject({ code: 2 });
    const result = await tollgate("import", "subscriptions", "--slot", "provider-a");
    expect(result).toMatchObject({ code: 1, stderr: "no payment provider is configured for provider-a\n" });
    const map = await fileOf("mapping.json", '{ "customer": {} }');
    const mapped = await tollgate("import", "subscriptions", "--slot", "provider-a", "--map", map);
    expect(mapped).toMatchObject({ code: 1, stderr: expect.stringContaining("is no mapping: expected {") });
    const url = test.url;
    const syncEngine = ["--slot", "provider-b", "--from", "sync-engine", "--database-url", url];
    expect(await tollgate("import", "subscriptions", ...syncEngine)).toMatchObject({
      code: 1,
      stderr: "sync-engine has subscriptions of Stripe, and provider-b is bound to paddle\n",
    });
    const missing = ["--slot", "provider-a", "--from", "sync-engine", "--database-url", url];
    expect(await tollgate("import", "subscriptions", ...missing)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the database has no table "stripe"."subscriptions"'),
    });
  });
});
