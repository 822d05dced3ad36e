import { randomInt } from "node:crypto";
import { readConfig } from "../../config/config.ts";
import { type Slot, variablePrefix } from "../../domain/slot.ts";
import { createUsers } from "../../operations/users/create-users.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { offersOf, prepareSimulation, userPrefix } from "../../simulator/scenario/prepare.ts";
import { type SendOptions, simulate, TargetRejectedError } from "../../simulator/scenario/simulate.ts";
import { createStats, percentile } from "../../simulator/scenario/stats.ts";
import { withPolledProgress } from "../output/progress.ts";
import type { SimulationReport } from "../output/simulation-text.ts";
import { runAsOperator } from "../run-as-operator.ts";
import { ownUrl, requireServer } from "../server-address.ts";
import type { Terminal } from "../terminal.ts";
import { withRuntime } from "../with-runtime.ts";
import { checkFinalState } from "./final-state.ts";

export type SimulateOptions = {
  slot: Slot;
  events: number;
  duplicates: number;
  corrupt: number;
  shuffle: boolean;
  concurrency: number;
  rate?: number;
  seed?: number;
  url?: string;
  json?: boolean;
};

/** Sends a scenario to a server and checks the result in its database. @throws Error with a remedy */
export async function runSimulation(terminal: Terminal, options: SimulateOptions): Promise<SimulationReport> {
  const url = options.url ?? ownUrl(readConfig(terminal.env));
  await requireServer(url);
  return withRuntime(terminal, (runtime) => simulateWith(terminal, runtime, url, options));
}

async function simulateWith(
  terminal: Terminal,
  runtime: Runtime,
  url: string,
  options: SimulateOptions,
): Promise<SimulationReport> {
  const { slot, events, concurrency } = options;
  const { format, secrets } = runtime.intake.slots[slot];
  const prefix = variablePrefix(slot);
  const [secret] = secrets;
  if (secret === undefined) {
    throw new Error(`${prefix}_WEBHOOK_SECRET is not set: there is nothing to sign with`);
  }
  const offers = offersOf(runtime.intake.plans, slot);
  if (offers.length === 0) throw new Error(`plans.config.ts has no plan with a price id for ${slot}`);

  const seed = options.seed ?? randomInt(2 ** 32);
  const run = newRun();
  const simulation = prepareSimulation({
    slot,
    format,
    offers,
    events,
    concurrency,
    seed,
    run,
    duplicates: options.duplicates,
    corrupt: options.corrupt,
    order: options.shuffle ? "shuffled" : "as it happened",
    nowSeconds: Math.floor(Date.now() / 1_000),
  });
  await runAsOperator(createUsers, runtime, {
    count: simulation.lifecycles.length,
    idPrefix: userPrefix(run),
  });

  const sending = {
    url,
    adapter: runtime.intake.adapters.of(format),
    secret,
    concurrency,
    rate: options.rate ?? null,
  };
  const stats = createStats();
  const result = await withPolledProgress(
    terminal,
    { total: simulation.schedule.size, done: () => stats.sent },
    () => simulate(simulation, sending, stats).catch((error) => explain(error, sending, prefix)),
  );
  const { tookMs, ...counts } = stats;
  return {
    run,
    seed,
    slot,
    format,
    url,
    events,
    subscriptions: simulation.lifecycles.length,
    ...counts,
    seconds: rounded(result.seconds, 3),
    eventsPerSecond: rounded(stats.sent / result.seconds, 0),
    p50Ms: rounded(percentile(tookMs, 0.5), 2),
    p99Ms: rounded(percentile(tookMs, 0.99), 2),
    accepted: result.accepted,
    ...(await checkFinalState(runtime, simulation, {
      mayBeOutOfOrder: (life) => options.shuffle || result.disturbed.has(life),
      hasOpenWork: stats.retried + stats.failed > 0,
    })),
  };
}

/** Time first, then random characters, so that the names of runs sort by age. */
function newRun(): string {
  const chance = randomInt(36 ** 3).toString(36);
  return Date.now().toString(36) + chance.padStart(3, "0");
}

function explain(error: unknown, { url }: SendOptions, prefix: string): never {
  if (!(error instanceof TargetRejectedError)) throw error;
  throw new Error(
    `the server at ${url} refused a correctly signed delivery (${error.message}): run this with the server's DATA_DIR, or with its ${prefix}_WEBHOOK_SECRET and ${prefix}_ADAPTER`,
  );
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
