import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wireFormats } from "../../src/providers/registry.ts";
import type { VerifyReport } from "../../src/reconcile/verification.ts";
import { verify } from "../../src/reconcile/verify.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import type { SimulatorState } from "../../src/simulator/server/state.ts";
import { API_KEY } from "../simulator/test-context.ts";
import type { TestDatabase } from "../support/database.ts";
import { startTestRuntime } from "../support/runtime.ts";
import { testDatabase } from "../support/test-database.ts";
import { simulatorWith } from "./many-subscriptions.ts";
import { isFullProof, report } from "./proof.ts";

/** More than two pages of every provider's list. */
const COUNT = isFullProof ? 100_000 : 450;
const CORRUPTED = isFullProof ? 1_000 : 20;
/** Payments that differ, and as many that are missing. */
const CORRUPTED_PAYMENTS = CORRUPTED / 2;
const FORMATS = isFullProof ? ["stripe"] : wireFormats();

/** One field of one subscription, each in turn. */
const CORRUPTIONS = [
  "seats = seats + 1",
  "status = 'past_due'",
  "plan_id = 'team'",
  "current_period_end = current_period_end - interval '3 days'",
  "cancel_at_period_end = true",
];

const PAYMENT_CORRUPTIONS = [
  "amount = amount + 1",
  "currency = 'XTS'",
  "state = 'failed', status = 'failed'",
  "refunded_amount = amount, status = 'refunded'",
  "refunded_amount = 1, status = 'partly_refunded'",
];

describe.each(FORMATS)("verify against %s", (format) => {
  const test = testDatabase(COUNT);
  let sim: Awaited<ReturnType<typeof simulatorWith>>;
  let runtime: Runtime;
  beforeAll(async () => {
    sim = await simulatorWith(format, COUNT);
    await insertSame(test, sim.stateFile);
    runtime = await startTestRuntime(test.url, {
      PROVIDER_A_ADAPTER: format,
      PROVIDER_A_API_KEY: API_KEY,
      PROVIDER_A_API_URL: `${sim.url}/provider-a`,
    });
  });
  afterAll(async () => {
    await runtime.close();
    await sim.close();
  });

  it(`finds ${CORRUPTED} of ${CORRUPTED} subscriptions and payments each among ${COUNT}, repairs them, and is clean afterwards`, {
    timeout: 900_000,
  }, async () => {
    const clean = { checked: 2 * COUNT, drift: [], repaired: 0, failed: [] };
    expect(await run()).toMatchObject(clean);
    const corrupted = await corrupt(test, {
      table: "subscription",
      id: "provider_subscription_id",
      changes: CORRUPTIONS,
      count: CORRUPTED,
    });
    const payments = { table: "payment", id: "provider_payment_id", count: CORRUPTED_PAYMENTS };
    const differing = await corrupt(test, { ...payments, changes: PAYMENT_CORRUPTIONS });
    const missing = await loseSome(test, differing);
    const startedAt = performance.now();
    const repaired = await run({ repair: true });
    const tookSeconds = Math.round((performance.now() - startedAt) / 1000);
    const driftOf = (kind: string) =>
      new Set(
        repaired.drift.flatMap((difference) => (difference.kind === kind ? [difference.providerId] : [])),
      );
    expect(driftOf("subscription")).toEqual(corrupted);
    expect(driftOf("payment")).toEqual(new Set([...differing, ...missing]));
    expect(repaired).toMatchObject({ checked: 2 * COUNT, repaired: 2 * CORRUPTED, failed: [] });
    expect(await run()).toMatchObject(clean);
    const planted = {
      corrupted: CORRUPTED,
      corruptedPayments: differing.size,
      missingPayments: missing.size,
    };
    await report("verify", { format, subscriptions: COUNT, payments: COUNT, ...planted, tookSeconds });
  });

  const run = (options: { repair?: boolean } = {}): Promise<VerifyReport> =>
    verify(runtime, {
      slots: ["provider-a"],
      sample: null,
      repair: false,
      notify: false,
      progressed: () => {},
      ...options,
    });
});

/** The subscriptions and payments as their events would have left them. */
async function insertSame(test: TestDatabase, stateFile: string): Promise<void> {
  const { slots } = JSON.parse(await readFile(stateFile, "utf8")) as SimulatorState;
  const rows = slots["provider-a"].subscriptions.map(({ ids, state }) => ({
    user_id: ids.userId,
    provider_id: ids.subscriptionId,
    customer_id: ids.customerId,
    plan_id: state.offer.planId,
    price_id: state.offer.priceId,
    seats: state.seats,
    status: state.status,
    period_end: state.periodEndSeconds,
  }));
  await test.rows(
    `insert into subscription (id, user_id, provider, provider_subscription_id, customer_id, price_id, plan_id, seats,
       status, current_period_end, cancel_at_period_end, out_of_order)
     select gen_random_uuid(), user_id, 'provider-a', provider_id, customer_id, price_id, plan_id, seats, status,
       to_timestamp(period_end), false, false
     from json_to_recordset($1::json) as given (user_id text, provider_id text, customer_id text, plan_id text,
       price_id text, seats int, status text, period_end float8)`,
    [JSON.stringify(rows)],
  );
  const payments = slots["provider-a"].payments.map(({ id, subscriptionId, state, atSeconds }) => ({
    payment_id: id,
    subscription_id: subscriptionId,
    at: atSeconds,
    currency: state.offer.currency,
    amount: state.offer.amount * state.seats,
    period_start: state.periodStartSeconds,
    period_end: state.periodEndSeconds,
  }));
  await test.rows(
    `with given as (
       select * from json_to_recordset($1::json) as given (payment_id text, subscription_id text, at float8, currency text,
         amount bigint, period_start float8, period_end float8)
     ), named as (
       insert into payment_name (provider, name, provider_payment_id)
       select 'provider-a', payment_id, payment_id from given
     )
     insert into payment (provider, provider_payment_id, provider_subscription_id, amount, currency, state, status,
       occurred_at, period_start, period_end)
     select 'provider-a', payment_id, subscription_id, amount, currency, 'paid', 'paid', to_timestamp(at),
       to_timestamp(period_start), to_timestamp(period_end)
     from given`,
    [JSON.stringify(payments)],
  );
}

type Corrupting = { table: string; id: string; changes: readonly string[]; count: number };

/** Each change in its share of the rows. Returns the provider's ids. */
async function corrupt(test: TestDatabase, { table, id, changes, count }: Corrupting): Promise<Set<string>> {
  const ids = new Set<string>();
  for (const [at, change] of changes.entries()) {
    const rows = await test.rows<{ id: string }>(
      `update ${table} set ${change} where id in (
         select id from ${table} where ${id} <> all ($2::text[]) order by md5(id::text || ${at}) limit $1::int
       ) returning ${id} as id`,
      [count / changes.length, [...ids]],
    );
    for (const row of rows) ids.add(row.id);
  }
  return ids;
}

async function loseSome(test: TestDatabase, others: ReadonlySet<string>): Promise<Set<string>> {
  const rows = await test.rows<{ id: string }>(
    `delete from payment where id in (
       select id from payment where provider_payment_id <> all ($2::text[]) order by md5(id::text) limit $1::int
     ) returning provider_payment_id as id`,
    [CORRUPTED_PAYMENTS, [...others]],
  );
  return new Set(rows.map(({ id }) => id));
}
