import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wireFormats } from "../../../src/providers/registry.ts";
import type { RunningServer } from "../../../src/server.ts";
import { type Tollgate, tollgateIn } from "../../cli/tollgate.ts";
import { repeatRefusals } from "../../simulator/repeat-refusals.ts";
import { control, press } from "../../simulator/test-context.ts";
import { eventually } from "../../support/eventually.ts";
import { sendRequest } from "../../support/http.ts";
import { createAdmin, createUser, type TestUser } from "../../support/people.ts";
import { startTestServer } from "../../support/server.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { testDatabase } from "../../support/test-database.ts";
import { GENEROUS_LIMITS, serverVariables } from "../../support/variables.ts";

describe.each(wireFormats())("with the simulator in the format %s", (format) => {
  let folder: string;
  const test = testDatabase(0);
  let server: RunningServer;
  let tollgate: Tollgate;
  let provider: string;
  beforeAll(async () => {
    folder = await temporaryFolder();
    const variables = {
      ...GENEROUS_LIMITS,
      PROVIDER_A_ADAPTER: format,
      SIMULATOR: "on",
      DATA_DIR: folder,
      // On a busy machine the server refuses some events at first, and they arrive out of order. Lemon Squeezy's
      // do no harm then, and what its test changes in the database is for the operator to find.
      SELF_HEAL: format === "lemon-squeezy" ? "off" : "on",
    };
    server = await startTestServer(test.url, { ...variables, SIMULATOR_PORT: "0" });
    provider = server.simulatorUrl as string;
    repeatRefusals(provider);
    tollgate = tollgateIn({
      ...serverVariables(test.url),
      ...variables,
      SIMULATOR_PORT: new URL(provider).port,
      APP_URL: server.url,
    });
  });
  afterAll(() => server.close());

  const post = (path: string, { cookie }: TestUser, body?: object) =>
    sendRequest(server.url, "POST", path, { body, cookie });
  const subscriptionsOf = async ({ cookie }: TestUser) =>
    (await sendRequest(server.url, "GET", "/api/subscriptions", { cookie })).body.subscriptions;
  /** Once the provider's id is known: Lemon Squeezy's first event, of the order, has none. */
  const statusOf = async (person: TestUser) => {
    const [subscription] = await subscriptionsOf(person);
    return subscription?.providerSubscriptionId ? subscription.status : null;
  };
  const lose = (share: number) => control(provider, "/provider-a/faults", { kind: "drop", share });

  async function buy(person: TestUser, body: object = { planId: "pro", seats: 2 }): Promise<void> {
    const { body: opened, text } = await post("/api/checkout", person, body);
    expect(opened.url, text).toMatch(new RegExp(`^${provider}/provider-a/`));
    const paid = await press(opened.url, { email: person.email, card: "4242 4242 4242 4242", action: "pay" });
    expect(paid.status).toBeLessThan(400);
  }

  it("lets a user buy, change seats, and delete the account", async () => {
    const person = await createUser(test);
    await buy(person);
    await eventually(() => statusOf(person), "active");
    const [subscription] = await subscriptionsOf(person);
    expect(subscription).toMatchObject({ planId: "pro", seats: 2, cancelAtPeriodEnd: false });
    expect((await post("/api/checkout", person, { planId: "team" })).status).toBe(409);

    const portal = await post("/api/portal", person);
    expect([portal.status, (await fetch(portal.body.url)).status]).toEqual([200, 200]);
    const id = subscription.providerSubscriptionId;
    await press(portal.body.url, { subscription: id, action: "seats", seats: "4" });
    await eventually(async () => (await subscriptionsOf(person))[0].seats, 4);

    const deletion = await post("/api/trpc/user.deleteAccount", person, {
      json: { confirmation: person.email },
    });
    expect(deletion.status, deletion.text).toBe(200);
    const { subscriptions } = (await control(provider, "/state")).slots["provider-a"];
    const ended = subscriptions.find((subscription: { id: string }) => subscription.id === id);
    expect(ended).toMatchObject(
      format === "lemon-squeezy" ? { cancelAtPeriodEnd: true } : { status: "canceled" },
    );
  });

  it("recovers lost deliveries when an operator or an administrator reconciles", async () => {
    const person = await createUser(test);
    const admin = await createAdmin(test);
    await buy(person, { planId: "team", seats: 6 });
    await eventually(() => statusOf(person), "active");
    const [{ id, providerSubscriptionId }] = await subscriptionsOf(person);
    const portal = await post("/api/portal", person);

    await lose(1);
    await press(portal.body.url, { subscription: providerSubscriptionId, action: "seats", seats: "9" });
    const answer = await sendRequest(server.url, "POST", `/api/subscriptions/${id}/reconcile`, {
      cookie: admin.cookie,
    });
    expect([answer.status, answer.body], answer.text).toMatchObject([200, { seats: 9 }]);

    // Every event of a new user: the subscription is unknown here.
    const unheard = await createUser(test);
    await buy(unheard);
    await lose(0);
    expect(await statusOf(unheard)).toBeNull();
    if (format === "lemon-squeezy") {
      await test.rows("update subscription set seats = 1 where id = $1", [id]);
      const dry = await tollgate("webhooks", "reconcile", "--dry-run");
      expect([dry.code, dry.stdout]).toEqual([3, expect.stringMatching(/, [1-9]\d* would be corrected, /)]);
      const { slots } = await tollgate.json("webhooks", "reconcile");
      expect(slots[0]).toMatchObject({ missed: null, changed: { adopted: 0 }, problem: null });
      expect(await subscriptionsOf(person)).toMatchObject([{ seats: 9 }]);
      return;
    }
    const { slots } = await tollgate.json("webhooks", "reconcile");
    expect(slots[0].missed).toMatchObject({ failed: 0 });
    expect(slots[0].missed.applied).toBeGreaterThan(1);
    expect(await subscriptionsOf(unheard)).toMatchObject([{ planId: "pro", seats: 2, status: "active" }]);
    expect((await tollgate.json("webhooks", "reconcile")).slots[0].missed).toMatchObject({ missed: 0 });
    expect(await tollgate.json("webhooks", "reconcile", "--slot", "provider-a")).toMatchObject({
      corrected: [],
      left: [],
    });
  });

  it("refuses another order once a checkout whose events were lost is paid, and records its subscription", async () => {
    const person = await createUser(test);
    // Lemon Squeezy finds the subscription by its address alone.
    await test.rows('update "user" set email_verified = true where id = $1', [person.id]);
    await lose(1);
    await buy(person);
    await lose(0);
    const refused = await post("/api/checkout", person, { planId: "team" });
    expect(refused.status, refused.text).toBe(409);
    await eventually(() => statusOf(person), "active");
  });

  it("passes doctor without problems", async () => {
    const { ok, findings } = await tollgate.json("doctor");
    expect(
      findings.filter(({ state }: { state: string }) => state !== "good" && state !== "skipped"),
    ).toEqual([]);
    expect(ok).toBe(true);
  });
});
