import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { expect, it } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { createLog } from "../../src/observability/log.ts";
import { verify } from "../../src/reconcile/verify.ts";
import { startRuntime } from "../../src/runtime/runtime.ts";
import { createRng } from "../../src/simulator/scenario/rng.ts";
import { API_KEY, press } from "../simulator/test-context.ts";
import { freshDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { type ServerProcess, spawnServer } from "../support/server-process.ts";
import { PROCESS_VARIABLES, serverVariables } from "../support/variables.ts";
import { simulatorWith } from "./many-subscriptions.ts";
import { isFullProof, report } from "./proof.ts";

const COUNT = isFullProof ? 100_000 : 600;
const KILLS = isFullProof ? 50 : 5;
const EVENTS = isFullProof ? 500 : 10;
/** How much each killed run gets done first. */
const ROWS_PER_RUN = isFullProof ? 1_500 : 100;
const ACTIONS = [
  { action: "seats", seats: "7" },
  { action: "cancel_at_period_end" },
  { action: "cancel_now" },
];

it(`imports ${COUNT} subscriptions, killed ${KILLS} times, while events come in`, {
  timeout: 3_600_000,
}, async () => {
  let server: ServerProcess | undefined;
  const test = await freshDatabase(COUNT);
  const sim = await simulatorWith("stripe", COUNT, {
    deliverTo: () => (server ? `${server.url}/api/webhooks/provider-a` : ""),
  });
  const access = {
    PROVIDER_A_ADAPTER: "stripe",
    PROVIDER_A_API_KEY: API_KEY,
    PROVIDER_A_API_URL: `${sim.url}/provider-a`,
  };
  server = await spawnServer(test.url, { ...access, SELF_HEAL: "on", RECONCILE: "off" });
  const runtime = await startRuntime(readConfig({ ...serverVariables(test.url), ...access }), {
    log: createLog("silent"),
  });

  const startedAt = performance.now();
  const changing = changeSome();
  for (let kill = 1; kill <= KILLS; kill += 1) {
    const before = await imported();
    const run = runImport();
    const exited = once(run, "exit");
    await eventually(
      async () => (await imported()) - before >= ROWS_PER_RUN || run.exitCode !== null,
      true,
      300_000,
    );
    run.kill("SIGKILL");
    await exited;
  }
  const last = runImport();
  const output = text(last);
  const [code] = await once(last, "exit");
  expect(code).toBe(0);
  const importedIn = Math.round((performance.now() - startedAt) / 1000);
  const { created, updated, skipped, unmatched } = JSON.parse(await output);
  expect({ all: created + updated + skipped, unmatched }).toEqual({ all: COUNT, unmatched: [] });
  await changing;
  await sim.settle();

  const check = async () => {
    const { checked, drift, failed } = await verify(runtime, {
      slots: ["provider-a"],
      sample: null,
      repair: false,
      notify: false,
      progressed: () => {},
    });
    return { areAllChecked: checked >= 2 * COUNT, drift, failed };
  };
  // Each subscription has been paid at least once.
  await eventually(check, { areAllChecked: true, drift: [], failed: [] }, 240_000);
  // Events notify as ever; the import does not.
  const [notified] = await test.rows<{ users: number }>(
    "select count(distinct user_id)::int as users from notification",
  );
  expect(notified?.users).toBeLessThanOrEqual(EVENTS);
  await report("import", {
    subscriptions: COUNT,
    kills: KILLS,
    events: EVENTS,
    importedInSeconds: importedIn,
  });
  await runtime.close();
  await server.end("SIGTERM");
  await sim.close();
  await test.drop();

  function runImport(): ChildProcess {
    const cli = resolve(import.meta.dirname, "../../src/cli/tollgate.ts");
    const words = ["import", "subscriptions", "--slot", "provider-a", "--from", "provider", "--json"];
    const env = { ...PROCESS_VARIABLES, ...serverVariables(test.url), ...access };
    return spawn(process.execPath, [cli, ...words], { env, stdio: ["ignore", "pipe", "inherit"] });
  }

  async function imported(): Promise<number> {
    const [row] = await test.rows<{ done: number }>(
      "select coalesce(sum(created + updated + skipped), 0)::int as done from import_run",
    );
    return row?.done ?? 0;
  }

  async function changeSome(): Promise<void> {
    const rng = createRng(1);
    for (let event = 0; event < EVENTS; event += 1) {
      const picked = rng.pick(sim.subscriptions("provider-a"));
      const id = picked.providerSubscriptionId;
      await press(sim.portalUrl("provider-a", id), { subscription: id, ...rng.pick(ACTIONS) });
    }
  }
});

async function text({ stdout }: ChildProcess): Promise<string> {
  let output = "";
  for await (const chunk of stdout ?? []) output += String(chunk);
  return output;
}
