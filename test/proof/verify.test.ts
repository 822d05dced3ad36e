import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { createLog } from "../../src/observability/log.ts";
import { wireFormats } from "../../src/providers/registry.ts";
import { type VerifyReport, verify } from "../../src/reconcile/verify.ts";
import { type Runtime, startRuntime } from "../../src/runtime/runtime.ts";
import type { SimulatorState } from "../../src/simulator/server/state.ts";
import { simulatorWith } from "../simulator/many-subscriptions.ts";
import { API_KEY } from "../simulator/test-context.ts";
import { freshDatabase, type TestDatabase } from "../support/database.ts";
import { serverVariables } from "../support/variables.ts";
import { isFullProof, report } from "./proof.ts";

/** More than two pages of every provider's list. */
const COUNT = isFullProof ? 100_000 : 450;
const CORRUPTED = isFullProof ? 1_000 : 20;
const FORMATS = isFullProof ? ["stripe"] : wireFormats();

/** One field of one subscription, each in turn. */
const CORRUPTIONS = [
  "seats = seats + 1",
  "status = 'past_due'",
  "plan_id = 'team'",
  "current_period_end = current_period_end - interval '3 days'",
  "cancel_at_period_end = true",
];

describe.each(FORMATS)("verify against %s", (format) => {
  let test: TestDatabase;
  let sim: Awaited<ReturnType<typeof simulatorWith>>;
  let runtime: Runtime;
  beforeAll(async () => {
    sim = await simulatorWith(format, COUNT);
    test = await freshDatabase(COUNT);
    await insertSame(test, sim.stateFile);
    const config = readConfig({
      ...serverVariables(test.url),
      PROVIDER_A_ADAPTER: format,
      PROVIDER_A_API_KEY: API_KEY,
      PROVIDER_A_API_URL: `${sim.url}/provider-a`,
    });
    runtime = await startRuntime(config, { log: createLog("silent") });
  });
  afterAll(async () => {
    await runtime.close();
    await sim.close();
    await test.drop();
  });

  it(`finds ${CORRUPTED} of ${CORRUPTED} corruptions among ${COUNT}, repairs them, and is clean afterwards`, {
    timeout: 900_000,
  }, async () => {
    const clean = { checked: COUNT, drift: [], repaired: 0, failed: [] };
    expect(await run()).toMatchObject(clean);
    const corrupted = await corrupt(test);
    const startedAt = performance.now();
    const found = await run({ repair: true });
    const tookSeconds = Math.round((performance.now() - startedAt) / 1000);
    expect(new Set(found.drift.map(({ providerId }) => providerId))).toEqual(corrupted);
    expect(found).toMatchObject({ checked: COUNT, repaired: CORRUPTED, failed: [] });
    expect(await run()).toMatchObject(clean);
    await report("verify", { format, subscriptions: COUNT, corrupted: CORRUPTED, tookSeconds });
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

/** The subscriptions as their events would have left them. */
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
}

async function corrupt(test: TestDatabase): Promise<Set<string>> {
  const ids = new Set<string>();
  for (const [at, change] of CORRUPTIONS.entries()) {
    const rows = await test.rows<{ id: string }>(
      `update subscription set ${change} where id in (
         select id from subscription where provider_subscription_id <> all ($2::text[]) order by md5(id::text || ${at})
         limit $1::int
       ) returning provider_subscription_id as id`,
      [CORRUPTED / CORRUPTIONS.length, [...ids]],
    );
    for (const { id } of rows) ids.add(id);
  }
  return ids;
}
