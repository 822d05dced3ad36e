import { describe, expect, it, vi } from "vitest";
import { OPERATOR } from "../../src/domain/callers/caller.ts";
import type { PaymentApi } from "../../src/domain/providers/payment-api.ts";
import { PaymentApiProblem } from "../../src/domain/providers/payment-api-problem.ts";
import { withForeignDatabase } from "../../src/import/foreign-database.ts";
import { importSubscriptions } from "../../src/import/import-subscriptions.ts";
import { Mapping, NO_MAPPING } from "../../src/import/mapping.ts";
import type { ImportOptions, ImportReport, Source } from "../../src/import/run-import.ts";
import { betterAuthSubscriptions } from "../../src/import/sources/better-auth.ts";
import { providerSubscriptions } from "../../src/import/sources/provider.ts";
import { syncEngineSubscriptions } from "../../src/import/sources/sync-engine.ts";
import type { SubscriptionRow } from "../../src/import/subscription-row.ts";
import { withHooksOf } from "../../src/intake/call-hooks.ts";
import { relayEvents } from "../../src/outbound/relay.ts";
import { loadFixture, signedDelivery } from "../fixtures/fixture.ts";
import type { FixtureOverrides } from "../fixtures/overrides.ts";
import { paymentEvents } from "../fixtures/payments.ts";
import { ACCESS_CONTEXT } from "../outbound/access-context.ts";
import { addUsers } from "../support/database.ts";
import { writtenChanges } from "../support/stored-events.ts";
import { stripeContext } from "../support/stripe-context.ts";
import { SECRETS } from "../support/variables.ts";
import { expectFailureWithoutAudit } from "../support/without-audit.ts";
import { EMPTY_AUDIT } from "./empty-audit.ts";

const context = stripeContext({ users: 0 });

const QUIET: ImportOptions = { dryRun: false, notify: false, progressed: () => {}, waiting: () => {} };
const SLOT = "provider-a" as const;
const PAID: FixtureOverrides = {
  userId: "user_1",
  subscriptionId: "sub_1",
  customerId: "cus_1",
  planId: null,
  priceId: "price_pro_monthly",
  seats: 2,
  status: "active",
  cancelAtPeriodEnd: false,
  currentPeriodEnd: new Date("2037-01-01T00:00:00Z"),
};

type StripeSubscription = { id: string; customer: string; items: { data: object[] } } & Record<
  string,
  unknown
>;

function objectOf(overrides: FixtureOverrides = {}): StripeSubscription {
  const { body } = loadFixture("stripe", "customer.subscription.updated", { ...PAID, ...overrides });
  return (body as unknown as { data: { object: StripeSubscription } }).data.object;
}

/** What the provider lists from now on. */
function listed(overrides: FixtureOverrides = {}, changes: object = {}): void {
  const object = { ...objectOf(overrides), ...changes };
  context.stripe.subscriptions.set(object.id, object);
}

const api = () => context.runtime.payments[SLOT] as PaymentApi;
const connection = () => ({ api: api(), account: "one" });

function imported(options: Partial<ImportOptions> = {}, mapping = NO_MAPPING): Promise<ImportReport> {
  return importFrom(providerSubscriptions(SLOT, connection(), mapping), options, mapping);
}

function importFrom(
  source: Source<SubscriptionRow>,
  options: Partial<ImportOptions> = {},
  mapping = NO_MAPPING,
): Promise<ImportReport> {
  const of = { slot: SLOT, mapping, api: api() };
  return importSubscriptions(context.runtime.intake, of, source, { ...QUIET, ...options });
}

const stored = () =>
  context.test.rows(
    `select user_id, provider_subscription_id as id, plan_id, seats, status, (current_period_end at time zone 'UTC')::date::text as until,
       cancel_at_period_end as ends, out_of_order
     from subscription order by provider_subscription_id`,
  );
const counts = (created: number, updated: number, skipped: number) => ({ created, updated, skipped });
const STORED = {
  user_id: "user_1",
  id: "sub_1",
  plan_id: "pro",
  seats: 2,
  status: "active",
  until: "2037-01-01",
  ends: false,
  out_of_order: false,
};

function receive(kind: string, overrides: FixtureOverrides = {}) {
  return receiveBody(loadFixture("stripe", kind, { ...PAID, ...overrides }).body);
}

async function receiveBody(body: object) {
  const nowSeconds = Math.floor(Date.now() / 1000);
  const { rawBody, headers } = signedDelivery("stripe", body, { secret: SECRETS[SLOT], nowSeconds });
  return context.runtime.intake.receive(SLOT, { rawBody, header: (name) => headers[name] });
}

describe("importing subscriptions from their provider", () => {
  it("creates them with their users, ended ones too, and changes nothing the second time", async () => {
    await addUsers(context.test, 3);
    listed();
    listed({ subscriptionId: "sub_2", userId: "user_2", customerId: "cus_2", status: "canceled" });
    expect(await imported()).toEqual({ ...counts(2, 0, 0), unmatched: [] });
    expect(await stored()).toEqual([
      STORED,
      { ...STORED, user_id: "user_2", id: "sub_2", status: "canceled" },
    ]);
    expect(await imported()).toEqual({ ...counts(0, 0, 2), unmatched: [] });
    expect(await context.test.rows("select by from reconciliation")).toEqual([
      { by: "operator" },
      { by: "operator" },
    ]);
  });

  it("requests a page again after no response, except the first", async () => {
    await addUsers(context.test, 3);
    listed();
    const real = providerSubscriptions(SLOT, connection(), NO_MAPPING);
    const unanswered = () => Promise.reject(new PaymentApiProblem("unreachable", "no answer"));
    const positions: (string | null)[] = [];
    const source = (failsAt: string | null): Source<SubscriptionRow> => ({
      identity: ["pages", failsAt],
      read: async (position) => {
        const isFirstTry = !positions.includes(position);
        positions.push(position);
        if (position === failsAt && isFirstTry) return unanswered();
        return position === null ? { ...(await real.read(null)), next: "2" } : { rows: [], next: null };
      },
    });
    expect(await importFrom(source("2"))).toEqual({ ...counts(1, 0, 0), unmatched: [] });
    expect(positions.splice(0)).toEqual([null, "2", "2"]);
    await expect(importFrom(source(null))).rejects.toThrow("no answer");
    expect(positions).toEqual([null]);
  });

  it("commits what it changes together with its audit entry or not at all", async () => {
    await addUsers(context.test, 3);
    await context.test.rows(EMPTY_AUDIT);
    listed();
    await imported({ dryRun: true });
    await expectFailureWithoutAudit(context.test, () => imported());
    expect(await stored()).toEqual([]);
    await imported();
    await imported();
    expect(
      await context.test.rows("select actor_kind, action, target_type, details from audit_entry"),
    ).toEqual([
      {
        actor_kind: "operator",
        action: "subscriptions.imported",
        target_type: "import",
        details: { created: 1, updated: 0, slot: SLOT, notify: false },
      },
    ]);
  });

  it("updates those that differ, and never reassigns one", async () => {
    await addUsers(context.test, 3);
    listed();
    await imported();
    await context.test.rows("update subscription set compared_at_micros = compared_at_micros - 10000000");
    listed({ seats: 5, userId: "user_2" });
    expect(await imported()).toEqual({ ...counts(0, 1, 0), unmatched: [] });
    expect(await stored()).toEqual([{ ...STORED, seats: 5 }]);
  });

  it("notifies nobody and emits no event without the option", async () => {
    await addUsers(context.test, 3);
    await context.test.rows("delete from outbound_event");
    const emitted = async () => [
      await context.test.rows("select kind from notification"),
      (await writtenChanges(context.test)).map(({ type }) => type),
    ];
    listed();
    await imported();
    expect(await emitted()).toEqual([[], []]);
    listed({ subscriptionId: "sub_2", userId: "user_2", customerId: "cus_2" });
    await imported({ notify: true });
    expect(await emitted()).toEqual([[{ kind: "subscription_activated" }], ["subscription.started"]]);
    // The first one stays silent when its next event changes nothing.
    await receive("customer.subscription.updated", { occurredAt: new Date(Date.now() + 60_000) });
    expect((await emitted())[0]).toHaveLength(1);
  });

  it.each([true, false])(
    "emits the end of access of one that it names after its refund, with the option (%s)",
    async (notify) => {
      await addUsers(context.test, 3);
      const relay = () => relayEvents({ database: context.test.database, ...ACCESS_CONTEXT });
      await receive("checkout.session.completed", { subscriptionId: null, planId: "pro" });
      const payment = { key: `imported_${notify}`, subscriptionId: "sub_1" };
      for (const word of ["paid", "refunded"] as const)
        for (const { body } of paymentEvents("stripe", word, payment, new Date())) await receiveBody(body);
      await relay();
      listed();
      expect(await imported({ notify })).toMatchObject(counts(0, 1, 0));
      await relay();
      const emitted = await context.test.rows<{ plan: string }>(
        `select data -> 'entitlements' ->> 'planId' as plan from outbound_event
       where type = 'entitlements.changed' order by position`,
      );
      // First that the period's end is known, where that is told.
      expect(emitted.map(({ plan }) => plan)).toEqual(notify ? ["pro", "pro", "free"] : ["pro"]);
    },
  );

  it("finds users by id, external id, mapping and imported customer, and lists whom it does not find", async () => {
    await addUsers(context.test, 6);
    await context.test.rows(`update "user" set external_id = 'old_2' where id = 'user_2'`);
    await context.test.rows(`update "user" set external_id = 'cus_5' where id = 'user_5'`);
    const mapping = Mapping.parse({
      customers: { cus_3: "user_3" },
      emails: { "Four@Example.com": "user_4" },
    });
    const of = (n: number, userId: string | null) => ({
      subscriptionId: `sub_${n}`,
      customerId: `cus_${n}`,
      userId,
    });
    listed(of(1, "user_1"));
    listed(of(2, "old_2"));
    listed(of(3, null));
    listed(of(4, null), { customer: { id: "cus_4", object: "customer", email: "four@example.com" } });
    listed(of(5, null));
    listed(of(6, null));
    listed(of(7, "stranger"));
    const report = await imported({}, mapping);
    expect(report).toMatchObject({
      ...counts(5, 0, 0),
      unmatched: [
        { providerSubscriptionId: "sub_6", customerId: "cus_6", reason: expect.stringMatching(/^user: /) },
        { providerSubscriptionId: "sub_7", userId: "stranger", reason: 'user: there is no user "stranger"' },
      ],
    });
    expect((await stored()).map(({ user_id }) => user_id)).toEqual([
      "user_1",
      "user_2",
      "user_3",
      "user_4",
      "user_5",
    ]);
  });

  it("prefers the user whom a subscription names, then the mapping of its customer, then that of an address", async () => {
    await addUsers(context.test, 6);
    await context.test.rows(`update "user" set external_id = 'user_1' where id = 'user_5'`);
    await context.test.rows(`update "user" set external_id = 'cus_3' where id = 'user_4'`);
    const mapping = Mapping.parse({
      customers: { cus_1: "user_2", cus_2: "user_2" },
      emails: { "one@example.com": "user_3" },
    });
    for (const [n, userId] of [
      [1, "user_1"],
      [2, null],
      [3, null],
    ] as const) {
      const customer = { id: `cus_${n}`, object: "customer", email: "one@example.com" };
      listed({ subscriptionId: `sub_${n}`, customerId: `cus_${n}`, userId }, { customer });
    }
    expect(await imported({}, mapping)).toEqual({ ...counts(3, 0, 0), unmatched: [] });
    expect((await stored()).map(({ user_id }) => user_id)).toEqual(["user_1", "user_2", "user_3"]);
  });

  it("lists what has an unknown price, cannot be read, or belongs to a deleted account", async () => {
    await addUsers(context.test, 3);
    await context.test.rows("insert into deleted_user (id) values ('gone')");
    listed({ priceId: "price_legacy" });
    listed({ subscriptionId: "sub_2", customerId: "cus_2" }, { status: "asleep" });
    listed({ subscriptionId: "sub_3", customerId: "cus_3", userId: "gone" });
    expect(await imported()).toMatchObject({
      ...counts(0, 0, 0),
      unmatched: [
        {
          providerSubscriptionId: "sub_1",
          reason: 'plan: no plan has the price "price_legacy" in provider-a',
        },
        { providerSubscriptionId: "sub_2", reason: expect.stringContaining("status") },
        { providerSubscriptionId: "sub_3", reason: "user: the account was deleted" },
      ],
    });
    expect(await stored()).toEqual([]);
  });

  it("changes nothing in a dry run, which reports the same", async () => {
    await addUsers(context.test, 3);
    listed();
    listed({ subscriptionId: "sub_9", customerId: "cus_9", userId: null });
    const dry = await imported({ dryRun: true });
    expect([await stored(), await context.test.rows("select id from import_run")]).toEqual([[], []]);
    expect(await imported()).toEqual(dry);
  });

  it("keeps the state of a newer event, and requests a comparison with the provider", async () => {
    await addUsers(context.test, 3);
    listed({ seats: 9 });
    const stale: Source<SubscriptionRow> = providerSubscriptions(SLOT, connection(), NO_MAPPING);
    const source: Source<SubscriptionRow> = {
      ...stale,
      read: async (position) => {
        const page = await stale.read(position);
        // Changed at the provider after its list was read.
        await receive("customer.subscription.updated", { seats: 4, occurredAt: new Date() });
        listed({ seats: 4 });
        return page;
      },
    };
    expect(await importFrom(source)).toEqual({ ...counts(0, 0, 1), unmatched: [] });
    expect(await stored()).toEqual([{ ...STORED, seats: 4 }]);
  });

  it("notifies nobody of what that comparison corrects, without the option", async () => {
    await addUsers(context.test, 3);
    // Newer than the list however long it takes until that is read.
    await receive("customer.subscription.created", { occurredAt: new Date(Date.now() + 60_000) });
    const emitted = async () => [
      await context.test.rows("select kind from notification"),
      (await writtenChanges(context.test)).map(({ type }) => type),
    ];
    const before = await emitted();
    listed({ status: "past_due" });
    expect(await imported()).toEqual({ ...counts(0, 0, 1), unmatched: [] });
    expect(await stored()).toEqual([{ ...STORED, status: "past_due" }]);
    expect(await emitted()).toEqual(before);
  });

  it("writes nothing more once another run has taken over, as after it was stopped for a while", async () => {
    await addUsers(context.test, 3);
    listed();
    const { identity, read } = providerSubscriptions(SLOT, connection(), NO_MAPPING);
    const stopped: Source<SubscriptionRow> = {
      identity,
      read: async (position) => {
        if (position === null) return { rows: [], next: "2" };
        await context.test.rows("update lease set token = gen_random_uuid()");
        return read(null);
      },
    };
    await expect(importFrom(stopped)).rejects.toThrow("another run");
    expect(await stored()).toEqual([]);
  });

  it("requests none in a dry run, nor where the provider cannot be asked", async () => {
    await addUsers(context.test, 3);
    // Newer than the list however long it takes until that is read.
    await receive("customer.subscription.created", { seats: 4, occurredAt: new Date(Date.now() + 60_000) });
    listed({ seats: 9 });
    expect(await imported({ dryRun: true })).toEqual({ ...counts(0, 0, 1), unmatched: [] });
    const source = providerSubscriptions(SLOT, connection(), NO_MAPPING);
    const withoutApi = { slot: SLOT, mapping: NO_MAPPING, api: null };
    expect(await importSubscriptions(context.runtime.intake, withoutApi, source, QUIET)).toEqual({
      ...counts(0, 0, 1),
      unmatched: [],
    });
    expect(await stored()).toEqual([{ ...STORED, seats: 4 }]);
  });

  it("begins anew where an interrupted run had another mapping", async () => {
    await addUsers(context.test, 3);
    listed({ userId: null });
    const interrupted = (mapping: Mapping): Source<SubscriptionRow> => {
      const { identity, read } = providerSubscriptions(SLOT, connection(), mapping);
      return {
        identity,
        read: async (position) => {
          if (position !== null) throw new Error("interrupted");
          return { ...(await read(null)), next: "2" };
        },
      };
    };
    await expect(importFrom(interrupted(NO_MAPPING))).rejects.toThrow("interrupted");
    expect(await stored()).toEqual([]);
    const mapping = Mapping.parse({ customers: { cus_1: "user_1" } });
    expect(await imported({}, mapping)).toEqual({ ...counts(1, 0, 0), unmatched: [] });
  });

  it("requests that comparison when it continues, if it was interrupted before", async () => {
    await addUsers(context.test, 3);
    // Newer than the list however long it takes until that is read.
    await receive("customer.subscription.created", { seats: 4, occurredAt: new Date(Date.now() + 60_000) });
    listed({ seats: 9 });
    const unreachable = {
      fetchSubscription: () => Promise.reject(new PaymentApiProblem("unreachable", "no answer")),
    };
    const importWith = (asked: Pick<PaymentApi, "fetchSubscription">) =>
      importSubscriptions(
        context.runtime.intake,
        { slot: SLOT, mapping: NO_MAPPING, api: asked },
        providerSubscriptions(SLOT, connection(), NO_MAPPING),
        QUIET,
      );
    await expect(importWith(unreachable)).rejects.toThrow("no answer");
    expect(await importWith(api())).toEqual({ ...counts(0, 0, 1), unmatched: [] });
    expect(await stored()).toEqual([{ ...STORED, seats: 9 }]);
  });

  it("gives each of a page's hooks its time, as no event waits", async () => {
    await addUsers(context.test, 3);
    for (let n = 1; n <= 7; n += 1) listed({ subscriptionId: `sub_${n}`, customerId: `cus_${n}` });
    const now = performance.now.bind(performance);
    let aheadMs = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => now() + aheadMs);
    const withSubscriptionChange = () => {
      aheadMs += 500_000;
    };
    const hooks = withHooksOf([{ name: "slow", withSubscriptionChange }], 600_000);
    const intake = { ...context.runtime.intake, hooks };
    const source = providerSubscriptions(SLOT, connection(), NO_MAPPING);
    try {
      const of = { slot: SLOT, mapping: NO_MAPPING, api: api() };
      expect(await importSubscriptions(intake, of, source, QUIET)).toEqual({
        ...counts(7, 0, 0),
        unmatched: [],
      });
    } finally {
      clock.mockRestore();
    }
  });

  it("counts an earlier event as late when it is delivered afterwards", async () => {
    await addUsers(context.test, 3);
    listed({ seats: 9 });
    await imported();
    await receive("customer.subscription.updated", { seats: 4, occurredAt: new Date(Date.now() - 60_000) });
    expect(await stored()).toEqual([{ ...STORED, seats: 4, out_of_order: true }]);
  });

  it("finds the subscription of an event that had no user yet", async () => {
    expect(await receive("customer.subscription.created", { occurredAt: new Date() })).toMatchObject({
      outcome: "failed",
    });
    await addUsers(context.test, 3);
    listed();
    expect(await imported()).toMatchObject(counts(1, 0, 0));
    const [failed] = await context.test.rows<{ id: string }>("select id::text from webhook_delivery");
    const { replay } = await import("../../src/intake/claims/replay.ts");
    const replayed = await replay(context.runtime.intake, failed?.id as string, {
      force: false,
      by: OPERATOR,
    });
    expect(replayed).toMatchObject({ outcome: "applied" });
    expect(await stored()).toEqual([STORED]);
  });
});

/** The tables of two versions of the sync engine. */
const SYNC_ENGINES: Record<string, string[]> = {
  "columns (before 1.0)": [
    "create table stripe.customers (id text primary key, object text, email text, metadata jsonb, deleted boolean default false not null, last_synced_at timestamptz)",
    `create table stripe.subscriptions (id text primary key, object text, cancel_at_period_end boolean,
       current_period_end integer, current_period_start integer, items jsonb, metadata jsonb, status text,
       cancel_at integer, canceled_at integer, created integer, ended_at integer, livemode boolean,
       customer text references stripe.customers, updated_at timestamptz default now() not null,
       last_synced_at timestamptz, billing_mode jsonb)`,
    `create table stripe.subscription_items (id text primary key, object text, created integer, deleted boolean,
       metadata jsonb, quantity integer, price text, subscription text references stripe.subscriptions,
       current_period_end integer, current_period_start integer)`,
  ],
  "_raw_data (1.0)": [
    `create table stripe.customers (_raw_data jsonb not null, id text generated always as ((_raw_data->>'id')::text) stored primary key,
       _last_synced_at timestamptz, _updated_at timestamptz not null default now())`,
    `create table stripe.subscriptions (_raw_data jsonb not null, id text generated always as ((_raw_data->>'id')::text) stored primary key,
       customer text generated always as ((_raw_data->>'customer')::text) stored,
       _last_synced_at timestamptz, _updated_at timestamptz not null default now())`,
  ],
};

describe.each(Object.keys(SYNC_ENGINES))("importing from the sync engine's tables with %s", (layout) => {
  const isRaw = layout.startsWith("_raw");
  const mapping = Mapping.parse({ emails: { "two@example.com": "user_2" } });

  it("reads them with their items, customers and time", async () => {
    const { test } = context;
    await addUsers(test, 3);
    await test.rows("create schema stripe");
    for (const statement of SYNC_ENGINES[layout] ?? []) await test.rows(statement);
    const unmapped = objectOf();
    const two = objectOf({ subscriptionId: "sub_2", customerId: "cus_2", userId: null, seats: 3 });
    const customers = [
      { id: "cus_1", email: "one@example.com" },
      { id: "cus_2", email: "Two@example.com" },
    ];
    for (const customer of customers) await insert("customers", customer);
    for (const object of [unmapped, two]) await insert("subscriptions", object);
    if (!isRaw) await moveItems();

    const report = await withForeignDatabase(test.url, (foreign) =>
      importFrom(
        syncEngineSubscriptions(context.runtime.intake, SLOT, { ...foreign, schema: "stripe" }, mapping),
        {},
        mapping,
      ),
    );
    expect(report).toEqual({ ...counts(2, 0, 0), unmatched: [] });
    expect(await stored()).toEqual([STORED, { ...STORED, user_id: "user_2", id: "sub_2", seats: 3 }]);
    const [row] = await test.rows("select compared_at_micros::text as at from subscription limit 1");
    expect(row).toEqual({ at: String(Date.parse("2026-11-01T12:00:00Z") * 1000) });
    await test.rows("drop schema stripe cascade");
  });

  async function insert(table: string, object: object): Promise<void> {
    const synced = "2026-11-01T12:00:00Z";
    if (isRaw) {
      await context.test.rows(
        `insert into stripe.${table} (_raw_data, _last_synced_at) values ($1::jsonb, $2)`,
        [JSON.stringify(object), synced],
      );
      return;
    }
    await context.test.rows(
      `insert into stripe.${table} select (jsonb_populate_record(null::stripe.${table},
         jsonb_build_object('deleted', false, 'updated_at', now()) || $1::jsonb)).*`,
      [JSON.stringify({ ...object, last_synced_at: synced })],
    );
  }

  /** Later versions keep the items in their own table alone. */
  async function moveItems(): Promise<void> {
    // What sub_2 was before: the sync engine keeps the items that a change of plan has deleted.
    await context.test.rows(
      `insert into stripe.subscription_items (id, quantity, price, subscription, deleted)
       values ('si_0', 9, 'price_team_monthly', 'sub_2', true)`,
    );
    await context.test.rows(
      `insert into stripe.subscription_items (id, quantity, price, subscription, current_period_end)
       select item ->> 'id' || s.id, (item ->> 'quantity')::int, item -> 'price' ->> 'id', s.id,
         (item ->> 'current_period_end')::int
       from stripe.subscriptions s, jsonb_array_elements(s.items -> 'data') item`,
    );
    await context.test.rows("update stripe.subscriptions set items = null where id = 'sub_2'");
  }
});

describe("importing from Better Auth's Stripe plugin", () => {
  it("reads its table, in which `referenceId` is the user", async () => {
    const { test } = context;
    await addUsers(test, 3);
    await test.rows("create schema auth_old");
    await test.rows(
      `create table auth_old.subscription (id text primary key, plan text not null, "referenceId" text not null,
         "stripeCustomerId" text, "stripeSubscriptionId" text, status text, "periodStart" timestamp,
         "periodEnd" timestamp, "trialStart" timestamp, "trialEnd" timestamp, "cancelAtPeriodEnd" boolean,
         "cancelAt" timestamp, "canceledAt" timestamp, "endedAt" timestamp, seats integer, "billingInterval" text,
         "stripeScheduleId" text)`,
    );
    await test.rows(
      `insert into auth_old.subscription (id, plan, "referenceId", "stripeCustomerId", "stripeSubscriptionId", status, "periodEnd", "cancelAtPeriodEnd", "cancelAt", seats)
       values ('a', 'Team', 'user_1', 'cus_1', 'sub_1', 'active', '2037-01-01', false, null, 7),
         ('b', 'gold', 'user_2', 'cus_2', 'sub_2', 'active', null, false, null, null),
         ('c', 'pro', 'some_organization', 'cus_3', 'sub_3', 'trialing', '2037-01-01', true, null, null),
         ('d', 'pro', 'user_2', null, null, 'incomplete', null, false, null, null),
         ('e', 'pro', 'user_0', 'cus_5', 'sub_5', 'active', null, true, null, null),
         ('f', 'pro', 'user_2', 'cus_6', 'sub_6', 'active', '2037-01-01', false, '2037-01-01', null)`,
    );
    const url = new URL(test.url);
    url.searchParams.set("options", "-c search_path=auth_old");
    const run = () =>
      withForeignDatabase(url.href, (foreign) =>
        importFrom(betterAuthSubscriptions(context.runtime.intake, SLOT, foreign, NO_MAPPING)),
      );
    const unmatched = [
      { providerSubscriptionId: "sub_2", reason: 'plan: there is no plan "gold"' },
      { providerSubscriptionId: "sub_3", reason: 'user: there is no user "some_organization"' },
      { providerSubscriptionId: null, reason: "it has no subscription id" },
    ];
    expect(await run()).toMatchObject({ ...counts(3, 0, 0), unmatched });
    expect(await stored()).toEqual([
      { ...STORED, plan_id: "team", seats: 7 },
      { ...STORED, user_id: "user_0", id: "sub_5", seats: 1, until: null, ends: true },
      { ...STORED, user_id: "user_2", id: "sub_6", seats: 1, ends: true },
    ]);
    expect(await run()).toMatchObject({ ...counts(0, 0, 3), unmatched });
    await test.rows("drop schema auth_old cascade");
  });
});

it("an interrupted import continues only from the same source and account, into the same slot, with the same mapping", () => {
  const { intake, database } = context.runtime;
  const mapping = Mapping.parse({ emails: { "one@example.com": "user_1" } });
  const at = (url: string, schema = "stripe") => ({ database, url, schema });
  const one = connection();
  const two = { ...one, account: "two" };
  const sources = [
    providerSubscriptions("provider-a", one, NO_MAPPING),
    providerSubscriptions("provider-a", two, NO_MAPPING),
    providerSubscriptions("provider-b", one, NO_MAPPING),
    providerSubscriptions("provider-a", one, mapping),
    syncEngineSubscriptions(intake, "provider-a", at("one"), NO_MAPPING),
    syncEngineSubscriptions(intake, "provider-b", at("one"), NO_MAPPING),
    syncEngineSubscriptions(intake, "provider-a", at("two"), NO_MAPPING),
    syncEngineSubscriptions(intake, "provider-a", at("one", "other"), NO_MAPPING),
    syncEngineSubscriptions(intake, "provider-a", at("one"), mapping),
    betterAuthSubscriptions(intake, "provider-a", at("one"), NO_MAPPING),
    betterAuthSubscriptions(intake, "provider-b", at("one"), NO_MAPPING),
    betterAuthSubscriptions(intake, "provider-a", at("two"), NO_MAPPING),
    betterAuthSubscriptions(intake, "provider-a", at("one"), mapping),
  ];
  const identities = new Set(sources.map(({ identity }) => JSON.stringify(identity)));
  expect(identities.size).toBe(sources.length);
  expect(providerSubscriptions("provider-a", one, NO_MAPPING).identity).toEqual(sources[0]?.identity);
});
