import { beforeEach, describe, expect, it } from "vitest";
import { redactDeleted } from "../../src/accounts/redact-deleted.ts";
import { OPERATOR } from "../../src/domain/callers/caller.ts";
import { deleteUser } from "../../src/operations/users/delete-user.ts";
import { ADAPTERS } from "../../src/providers/registry.ts";
import { openRedactions, type Redaction, redact } from "../../src/store/accounts/redaction.ts";
import { openDatabase, type Queryable } from "../../src/store/database.ts";
import { findInAllTables } from "../operations/find-in-all-tables.ts";
import { createTestContext } from "../operations/test-context.ts";
import { testDatabase } from "../support/test-database.ts";

const test = testDatabase(0);
const context = createTestContext(test);
beforeEach(async () => {
  await test.rows(
    "truncate webhook_delivery, webhook_attempt, subscription, reconciliation, deleted_user restart identity cascade",
  );
  await test.rows(`delete from "user"`);
  await test.rows(
    `insert into "user" (id, name, email) select id, id, id || '@example.com' from unnest('{user_1,user_10,other}'::text[]) id`,
  );
});

let events = 0;

/** Stores a delivery as the log does; returns its id. */
async function logged(
  payload: unknown,
  { format = "stripe", type = "else.happened", status = "successful", error = null as string | null } = {},
): Promise<string> {
  events += 1;
  const text = typeof payload === "string" ? payload : JSON.stringify(payload);
  const [row] = await test.rows<{ id: string }>(
    `insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source, payload, last_error,
       last_reason, next_attempt_at)
     values ('provider-a', $1, $2, $3, $4, 'delivery', $5::text::json, $6::text,
       case when $6::text is not null then 'user_not_found' end, case when $4 = 'failed' then now() end)
     returning id`,
    [`evt_${events}`, type, format, status, text, error],
  );
  const id = row?.id as string;
  if (error !== null) {
    await test.rows(
      `insert into webhook_attempt (delivery_id, claim_no, source, outcome, reason, reason_id, reason_params, started_at,
         duration_ms)
       values ($1, 1, 'delivery', 'failed', $2, 'user_not_found', json_build_object('userId', $3::text), now(), 1)`,
      [id, error, /"(.+)"/.exec(error)?.[1]],
    );
  }
  return id;
}

async function subscription(userId: string, sub: string, customer: string): Promise<void> {
  await test.rows(
    `insert into subscription (id, user_id, provider, provider_subscription_id, customer_id, plan_id, seats, status,
       cancel_at_period_end, out_of_order)
     values (gen_random_uuid(), $1, 'provider-a', $2, $3, 'pro', 1, 'canceled', false, false)`,
    [userId, sub, customer],
  );
}

const stripe = (userId: string | null, sub: string | null, customer: string | null) => ({
  type: "customer.subscription.updated",
  data: { object: { id: sub, customer, metadata: { userId } } },
});
const UPDATED = { type: "customer.subscription.updated" };

const leave = (userId = "user_1") =>
  context.call(deleteUser, OPERATOR, { userId, confirmation: `${userId}@example.com` });

/** Those whose payloads are still there. */
async function existingDeliveries(ids: readonly string[]): Promise<string[]> {
  const rows = await test.rows<{ id: string }>(
    "select id from webhook_delivery where id = any ($1::bigint[]) and payload is not null order by id",
    [ids],
  );
  return rows.map(({ id }) => id);
}

/** Except in the tables of users, one of whom has an id with the same beginning. */
async function placesInLog(text: string): Promise<string[]> {
  return (await findInAllTables(test, text)).filter((place) => place.startsWith("webhook_"));
}

describe("the payloads to redact", () => {
  it("include those with the user's id in any encoding, not those with an id of the same prefix", async () => {
    const usersDeliveries = [
      await logged(stripe("user_1", "sub", "cus"), UPDATED),
      await logged('{"metadata": {"userId": "\\u0075ser_1"}}'),
      await logged({ deep: [{ inside: ["user_1"] }] }),
      await logged(stripe("user_1", null, null), { ...UPDATED, format: "of-old" }),
      await logged(
        { data: { object: { metadata: { userId: "user_1" }, customer: { wrong: [] } } } },
        UPDATED,
      ),
    ];
    const otherDeliveries = [
      await logged(stripe("user_10", "sub_10", "cus_10"), UPDATED),
      await logged({ metadata: { userId: "user_10" }, text: "not user_1 but \\ another" }),
      await logged('{"metadata": {"userId": "\\u0075ser_10"}}'),
      await logged({ user_1: "as a name of something" }),
    ];
    await leave();
    expect(await existingDeliveries([...usersDeliveries, ...otherDeliveries])).toEqual(otherDeliveries);
  });

  it("include one with many fields below a name of 400 KB", async () => {
    const fields = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, index) => [`field_${index}`, index]),
    );
    const id = await logged({ metadata: { userId: "user_1" }, ["name".repeat(100_000)]: fields });
    await leave();
    expect(await existingDeliveries([id])).toEqual([]);
  });

  it("include those with the user's subscription or customer id; numeric ids count in id fields only", async () => {
    await subscription("user_1", "sub", "cus");
    await subscription("user_1", "77", "88");
    const usersDeliveries = [
      await logged(stripe(null, "sub", null), UPDATED),
      await logged(stripe(null, "new", "cus"), UPDATED),
      await logged({ invoice: { subscription: "sub", customer: { id: "cus", name: "Ann" } } }),
      await logged({ data: { attributes: { customer_id: 88 } } }, { format: "lemon-squeezy" }),
      await logged(
        { meta: {}, data: { id: "77", attributes: {} } },
        { format: "lemon-squeezy", type: "subscription_updated" },
      ),
    ];
    const otherDeliveries = [
      await logged(
        { data: { id: "88", attributes: { quantity: 77, store_id: 88 } } },
        { format: "lemon-squeezy" },
      ),
      await logged({ invoice: { subscription: "sub_2", customer: "cus_2" } }),
      await logged({ data: { attributes: { customer_id: 888 } } }, { format: "lemon-squeezy" }),
    ];
    await leave();
    expect(await existingDeliveries([...usersDeliveries, ...otherDeliveries])).toEqual(otherDeliveries);
  });

  it("exclude those of a subscription that has the number of the user's payment", async () => {
    await test.rows(
      `insert into payment (provider, provider_payment_id, provider_subscription_id, user_id, amount, currency, state, status,
         occurred_at)
       values ('provider-a', '77', '77', 'user_1', 900, 'EUR', 'paid', 'paid', now())`,
    );
    await test.rows(
      "insert into payment_name (provider, name, provider_payment_id) values ('provider-a', '77', '77')",
    );
    const otherDeliveries = [
      await logged({ data: { attributes: { subscription_id: 77 } } }, { format: "lemon-squeezy" }),
    ];
    await leave();
    expect(await existingDeliveries(otherDeliveries)).toEqual(otherDeliveries);
  });

  it("exclude those of another user with the same customer", async () => {
    await subscription("user_1", "sub", "agency");
    await subscription("other", "sub_other", "agency");
    const usersDeliveries = [
      await logged(stripe("user_1", "sub", "agency"), UPDATED),
      await logged(stripe(null, "sub", "agency"), UPDATED),
    ];
    const otherDeliveries = [
      await logged(stripe("other", "sub_other", "agency"), UPDATED),
      await logged(stripe("other", "sub_new", "agency"), {
        ...UPDATED,
        status: "failed",
        error: "plan: none",
      }),
      await logged(stripe(null, "sub_other", "agency"), UPDATED),
      await logged({ invoice: { customer: "agency" } }),
    ];
    await leave();
    expect(await existingDeliveries([...usersDeliveries, ...otherDeliveries])).toEqual(otherDeliveries);
    expect(await placesInLog("user_1")).toEqual([]);
  });

  it("include those of a customer whose id another user has in another slot", async () => {
    await subscription("user_1", "sub", "cus");
    await subscription("other", "sub_other", "cus");
    await test.rows("update subscription set provider = 'provider-b' where user_id = 'other'");
    const usersDeliveries = [await logged({ invoice: { customer: "cus" } })];
    const otherDeliveries = [await logged(stripe("other", "sub_other", "cus"), UPDATED)];
    await test.rows("update webhook_delivery set provider = 'provider-b' where id = any ($1::bigint[])", [
      otherDeliveries,
    ]);
    await leave();
    expect(await existingDeliveries([...usersDeliveries, ...otherDeliveries])).toEqual(otherDeliveries);
  });

  it("exclude those of another user whose events are not applied yet", async () => {
    await subscription("user_1", "sub", "agency");
    const usersDeliveries = [await logged(stripe(null, "sub_new", "agency"), UPDATED)];
    const otherDeliveries = [
      await logged(stripe("other", "sub_other", "agency"), {
        ...UPDATED,
        status: "failed",
        error: "plan: none",
      }),
    ];
    await leave();
    expect(await existingDeliveries([...usersDeliveries, ...otherDeliveries])).toEqual(otherDeliveries);
    const open = await test.rows("select id from webhook_delivery where next_attempt_at is not null");
    expect(open.map(({ id }) => id)).toEqual(otherDeliveries);
  });

  it("include those received before the customer was known to be the user's", async () => {
    const usersDeliveries = [
      await logged({ customer: { id: "cus_early", email: "ann@example.com" } }),
      await logged({ checkout: { customer: "cus_early", metadata: { userId: "user_1" } } }),
      await logged({ invoice: { customer: "cus_early" } }),
    ];
    const otherDeliveries = [await logged({ invoice: { customer: "cus_earlier" } })];
    await leave();
    expect(await existingDeliveries([...usersDeliveries, ...otherDeliveries])).toEqual(otherDeliveries);
    expect(await openRedactions(test.database)).toEqual([]);
    expect(await findInAllTables(test, "cus_early ")).toEqual([]);
  });

  it("include stored reasons that quote the user, also where the payload was dropped", async () => {
    const failed = await logged(stripe("user_1", "sub", null), {
      ...UPDATED,
      status: "failed",
      error: 'user: there is no user "user_1"',
    });
    const pruned = await logged("null", { error: 'user: there is no user "user_1"' });
    const another = await logged("null", { error: 'user: there is no user "user_10"' });
    await test.rows("update webhook_delivery set payload = null where id = any ($1::bigint[])", [
      [pruned, another],
    ]);
    await subscription("user_1", "sub", "cus");
    await leave();
    const rows = await test.rows(
      `select d.id, d.status, d.last_error as error, d.last_reason, a.reason, a.reason_id, a.reason_params as params,
         d.next_attempt_at as next
       from webhook_delivery d join webhook_attempts a on a.delivery_id = d.id order by d.id`,
    );
    const redacted = "redacted: the person has deleted the account";
    const quote = 'user: there is no user "user_10"';
    const theirs = {
      error: redacted,
      last_reason: "redacted",
      reason: redacted,
      reason_id: "redacted",
      params: null,
      next: null,
    };
    expect(rows).toMatchObject([
      { id: failed, status: "failed", ...theirs },
      { id: pruned, status: "successful", ...theirs },
      {
        id: another,
        status: "successful",
        error: quote,
        reason: quote,
        reason_id: "user_not_found",
        next: null,
      },
    ]);
  });
});

it("replaces the reasons of first attempts that quote the user, and no others", async () => {
  const quoting = (userId: string) => `user: there is no user "${userId}"`;
  const ids = [await logged("null"), await logged("null")];
  await test.rows(
    `update webhook_delivery d set payload = null, first_reason = reason, first_reason_id = 'user_not_found',
       first_reason_params = '{"userId": "of the reason"}'
     from unnest($1::bigint[], $2::text[]) as given (id, reason) where d.id = given.id`,
    [ids, [quoting("user_1"), quoting("user_10")]],
  );
  await leave();
  const reasons = `select first_reason as reason, first_reason_id as id, first_reason_params as params
    from webhook_delivery order by webhook_delivery.id`;
  expect(await test.rows(reasons)).toEqual([
    { reason: "redacted: the person has deleted the account", id: "redacted", params: null },
    { reason: quoting("user_10"), id: "user_not_found", params: { userId: "of the reason" } },
  ]);
});

it("replaces reasons that quote the beginning of a long id", async () => {
  const userId = `user_${"x".repeat(80)}`;
  await test.rows(`insert into "user" (id, name, email) values ($1, 'Ann', $1 || '@example.com')`, [userId]);
  const error = `user: there is no user "${userId.slice(0, 60)}..."`;
  await test.rows("update webhook_delivery set payload = null where id = $1", [
    await logged("null", { error }),
  ]);
  await leave(userId);
  expect(await placesInLog(userId.slice(0, 60))).toEqual([]);
});

describe("redaction", () => {
  const log = { error: () => {}, warn: () => {}, debug: () => {} };
  const intake = { adapters: ADAPTERS, log };
  const tools = () => ({ database: test.database, intake });

  async function bulk(count: number): Promise<void> {
    await test.rows(
      `insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source, payload)
       select 'provider-a', 'bulk_' || n, 'else.happened', 'stripe', 'successful', 'delivery',
         json_build_object('userId', case when n % 500 = 0 then 'user_1' else 'other' end)
       from generate_series(1, $1::int) n`,
      [count],
    );
  }
  const unredactedCount = async () =>
    (
      await test.rows<{ n: number }>(
        "select count(*)::int n from webhook_delivery where payload::text like '%user_1\"%'",
      )
    )[0]?.n;

  /** The user is deleted and nothing is redacted yet, as after a crash just behind the commit. */
  async function goneOnly(): Promise<void> {
    await leave();
    await test.rows(
      `update deleted_user set to_redact = '{"subscriptions": [], "customers": [], "after": "0", "again": false}'`,
    );
  }

  it("continues step by step after an interruption", async () => {
    await goneOnly();
    await bulk(20_000);
    const counts: (number | undefined)[] = [];
    let isDone = false;
    while (!isDone) {
      let steps = 0;
      isDone = await redactDeleted(tools(), () => {
        steps += 1;
        return steps > 2;
      });
      counts.push(await unredactedCount());
    }
    expect(counts.length).toBeGreaterThan(4);
    expect(counts).toEqual(counts.toSorted((a, b) => (b ?? 0) - (a ?? 0)));
    expect(await unredactedCount()).toBe(0);
    expect(await placesInLog("user_1")).toEqual([]);
    const [others] = await test.rows(
      "select count(*)::int n from webhook_delivery where payload is not null",
    );
    expect(others).toEqual({ n: 20_000 - 40 });
  });

  it("waits for deliveries that are still to be applied, which need their payloads", async () => {
    const before = await logged(stripe("user_1", "sub", "cus"));
    const pending = await logged(stripe("user_1", "sub", "cus"), { ...UPDATED, status: "pending" });
    await leave();
    expect(await existingDeliveries([before, pending])).toEqual([pending]);
    await test.rows("update webhook_delivery set status = 'successful' where id = $1", [pending]);
    expect(await redactDeleted(tools(), () => false)).toBe(true);
    expect(await existingDeliveries([before, pending])).toEqual([]);
  });

  it("waits for a delivery that is claimed while redaction looks for it", async () => {
    await leave();
    const failed = await logged(stripe("user_1", "sub", "cus"), { ...UPDATED, status: "failed" });
    await test.rows(
      `update deleted_user set to_redact = '{"subscriptions": [], "customers": [], "after": "0", "again": false}'`,
    );
    const database: Queryable = {
      run: async (statement, values) => {
        if (statement.name === "redact")
          await test.rows("update webhook_delivery set status = 'pending' where id = $1", [failed]);
        return test.database.run(statement, values);
      },
    };
    expect(await redactDeleted({ ...tools(), database }, () => false)).toBe(false);
    expect(await existingDeliveries([failed])).toEqual([failed]);
    await test.rows("update webhook_delivery set status = 'failed' where id = $1", [failed]);
    expect(await redactDeleted(tools(), () => false)).toBe(true);
    expect(await existingDeliveries([failed])).toEqual([]);
  });

  it("waits for those of whoever was deleted last, also where others were deleted long before", async () => {
    for (const userId of ["user_1", "other"]) await leave(userId);
    await test.rows("update deleted_user set deleted_at = now() - interval '1 hour' where id = 'user_1'");
    await test.rows(
      `update deleted_user set to_redact = '{"subscriptions": [], "customers": [], "after": "0", "again": false}'`,
    );
    const pending = await logged(stripe("other", "sub", "cus"), { ...UPDATED, status: "pending" });
    expect(await redactDeleted(tools(), () => false)).toBe(false);
    expect(await existingDeliveries([pending])).toEqual([pending]);
  });

  it("loses no match when two processes take the same step", async () => {
    await goneOnly();
    const [before] = (await openRedactions(test.database)) as [Redaction];
    const step = { before, deliveryIds: [], until: "0", quotedId: '"user_1"' };
    const redaction: Redaction = {
      ...before,
      customers: [{ provider: "provider-a", id: "cus" }],
      again: true,
    };
    expect(await redact(test.database, { ...step, next: redaction })).toBe(true);
    expect(await redact(test.database, { ...step, next: { ...before, after: "9" } })).toBe(false);
    expect(await redact(test.database, { ...step, next: null })).toBe(false);
    expect(await openRedactions(test.database)).toEqual([redaction]);
  });

  it("finds every match when several processes run at once", async () => {
    await goneOnly();
    await logged({ customer: "cus_x", email: "ann@example.com" });
    await bulk(6_000);
    await logged({ customer: "cus_x", userId: "user_1" });
    const databases = [1, 2, 3].map(() =>
      openDatabase({ url: test.url, prepared: true, maxConnections: 2, answerTimeoutMs: 30_000 }),
    );
    const until = async (database: (typeof databases)[number]) => {
      while (!(await redactDeleted({ database, intake }, () => false)));
    };
    await Promise.all(databases.map(until));
    await Promise.all(databases.map((database) => database.close()));
    expect(await placesInLog("user_1")).toEqual([]);
    expect(await findInAllTables(test, "cus_x")).toEqual([]);
  });

  it("reads the log once for many people", async () => {
    await test.rows(
      `insert into deleted_user (id, to_redact)
       select 'person-' || lpad(n::text, 3, '0'), '{"subscriptions": [], "customers": [], "after": "0", "again": false}'
       from generate_series(0, 29) n`,
    );
    await test.rows(
      `insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source, payload)
       select 'provider-a', 'many_' || n, 'x', 'stripe', 'successful', 'delivery',
         json_build_object('userId', 'person-' || lpad((n % 300)::text, 3, '0'))
       from generate_series(1, 6000) n`,
    );
    let searches = 0;
    const database: Queryable = {
      run: (statement, values) => {
        if (statement.name === "redaction_suspects") searches += 1;
        return test.database.run(statement, values);
      },
    };
    expect(await redactDeleted({ database, intake }, () => false)).toBe(true);
    expect(await test.rows("select count(*)::int n from webhook_delivery where payload is null")).toEqual([
      { n: 600 },
    ]);
    // Three steps of 2,000 deliveries, and one more after each 50 matches; one user at a time would take 90.
    expect(searches).toBeLessThan(20);
  });

  it("finishes for payloads that must be read one by one", async () => {
    await goneOnly();
    await test.rows(
      `insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source, payload)
       select 'provider-a', 'odd_' || n, 'x', 'stripe', 'successful', 'delivery',
         case when n = 777 then '{"\\u0061": "\\u0075ser_1"}' else '{"\\u0061": "b"}' end::json
       from generate_series(1, 1000) n`,
    );
    expect(await redactDeleted(tools(), () => false)).toBe(true);
    const redacted = await test.rows("select event_id from webhook_delivery where payload is null");
    expect(redacted).toEqual([{ event_id: "odd_777" }]);
  });
});
