import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { runCommand } from "../../../src/cli/tollgate.ts";
import { hashOf } from "../../../src/import/run-import.ts";
import { userFile } from "../../../src/import/sources/user-file.ts";
import { acquireLease, type Lease, releaseLease } from "../../../src/store/leases.ts";
import { loadFixture } from "../../fixtures/fixture.ts";
import { emptyDatabase } from "../../support/database.ts";
import { STRIPE_KEY, stripeServer } from "../../support/stripe-server.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { testDatabase } from "../../support/test-database.ts";
import { serverVariables } from "../../support/variables.ts";
import { type Tollgate, tollgateIn } from "../tollgate.ts";

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
    const dry = await tollgate("import", "users", "--from", file, "--dry-run");
    expect(dry.stdout).toMatch(/^1 would be created, 0 would be updated, 0 unchanged, 1 left out\n/);
    const { code, stdout, stderr } = await tollgate("import", "users", "--from", file);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(
      /^1 created, 0 updated, 0 unchanged, 1 left out\n[\s\S]*line 3 bob nobody +email: expected an email address/,
    );
    expect(await tollgate.json("import", "users", "--from", file)).toMatchObject({ created: 0, skipped: 1 });
  });

  it("says why it waits when it is run again at once after Ctrl-C, then continues", async () => {
    const file = await fileOf("interrupted.csv", "id,email\nivy,ivy@example.com\n");
    const { identity } = await userFile(file);
    const name = `import:${hashOf([...identity, false])}`;
    const left = await acquireLease(test.database, name, { seconds: 30 });
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    // As if it had run out by then.
    const waits = once(stderr, "data").then(async ([printed]) => {
      await releaseLease(test.database, left as Lease);
      return String(printed);
    });
    const terminal = { env: serverVariables(test.url), stdout, stderr, exitCode: 0 };
    await runCommand(["import", "users", "--from", file], terminal);
    expect(await waits).toBe(
      "waiting: the same import is running, or was interrupted within the last 10 seconds\n",
    );
    expect(String(stdout.read())).toMatch(/^1 created/);
    expect(terminal.exitCode).toBe(0);
  });

  it("emits events only when it is told to", async () => {
    const emitted = () => test.rows("select type from outbound_event where data ->> 'id' = 'eve'");
    const imported = (name: string, ...flags: string[]) =>
      fileOf("eve.csv", `id,email,name\neve,eve@example.com,${name}\n`).then((file) =>
        tollgate.json("import", "users", "--from", file, ...flags),
      );
    expect(await imported("Eve")).toMatchObject({ created: 1 });
    expect(await emitted()).toEqual([]);
    expect(await imported("Eva", "--notify")).toMatchObject({ updated: 1 });
    expect(await emitted()).toEqual([{ type: "user.updated" }]);
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

  it("writes nothing in a dry run, and notifies nobody unless it is told to", async () => {
    const stripe = await stripeServer();
    onTestFinished(() => stripe.close());
    await test.rows(`insert into "user" (id, name, email) values ('fay', 'Fay', 'fay@example.com')`);
    const { body } = loadFixture("stripe", "customer.subscription.created", {
      ...{
        eventId: "evt_1",
        occurredAt: new Date(),
        userId: "fay",
        planId: "pro",
        subscriptionId: "sub_fay",
      },
      ...{ customerId: "cus_fay", priceId: "price_pro_monthly", seats: 1, status: "active" },
    });
    stripe.subscriptions.set("sub_fay", (body as { data: { object: object } }).data.object);
    const access = { PROVIDER_A_API_KEY: STRIPE_KEY, PROVIDER_A_API_URL: stripe.url };
    const withStripe = tollgateIn({ ...serverVariables(test.url), ...access });
    const stored = () =>
      test.rows(`select (select count(*)::int from subscription) as subscriptions,
        (select count(*)::int from notification) as notifications`);
    for (const [flag, subscriptions, notifications] of [
      ["--dry-run", 0, 0],
      ["--json", 1, 0],
      ["--notify", 1, 1],
    ] as const) {
      if (flag === "--notify") await test.rows("delete from subscription");
      expect(await withStripe.json("import", "subscriptions", "--slot", "provider-a", flag)).toMatchObject({
        created: 1,
        unmatched: [],
      });
      expect([flag, await stored()]).toEqual([flag, [{ subscriptions, notifications }]]);
      // Asked for to be recorded.
      const paymentCalls = stripe.calls.filter((call) => call.includes("/invoices"));
      expect([flag, paymentCalls.length > 0]).toEqual([flag, flag !== "--dry-run"]);
    }
  });

  it("lists a payment that cannot be recorded, and records the others", async () => {
    const stripe = await stripeServer();
    onTestFinished(() => stripe.close());
    const invoice = (id: string) => ({
      ...{ id, object: "invoice", customer: "cus_1", currency: "eur", status: "paid", attempted: true },
      ...{ created: 1_772_452_800, amount_due: 2_000, amount_paid: 2_000 },
      lines: { data: [{ period: { start: 1_772_452_800, end: 1_775_131_200 } }] },
      parent: { subscription_details: { subscription: "sub_1", metadata: { userId: "fay" } } },
      payments: { data: [{ payment: { type: "payment_intent", payment_intent: `pi_${id}` } }] },
    });
    stripe.interfere(async ({ path }) =>
      path === "/v1/invoices"
        ? {
            status: 200,
            body: { object: "list", data: [invoice("in_1"), invoice("in_2")], has_more: false },
          }
        : undefined,
    );
    await test.rows("alter table payment add constraint refused check (provider_payment_id <> 'in_1')");
    onTestFinished(async () => void (await test.rows("alter table payment drop constraint refused")));
    const access = { PROVIDER_A_API_KEY: STRIPE_KEY, PROVIDER_A_API_URL: stripe.url };
    const withStripe = tollgateIn({ ...serverVariables(test.url), ...access });
    const { code, stdout } = await withStripe("import", "subscriptions", "--slot", "provider-a");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^0 created, 0 updated, 0 unchanged, 1 left out; 1 payments recorded\n/);
    expect(stdout).toMatch(/^in_1 +\S/m);
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
