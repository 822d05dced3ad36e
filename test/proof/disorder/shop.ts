import { SLOTS, type Slot, variablePrefix } from "../../../src/domain/slot.ts";
import type { WireFormat } from "../../../src/providers/adapter.ts";
import type { Simulator } from "../../../src/simulator/server/start-simulator.ts";
import { API_KEY, control, simulator } from "../../simulator/test-context.ts";
import { freshDatabase, type TestDatabase } from "../../support/database.ts";
import { type ServerProcess, spawnServer } from "../../support/server-process.ts";
import type { Downtime } from "./deadlines.ts";

/** Shares of the deliveries. */
const FAULTS = { duplicate: 0.15, delay: 0.1, reorder: 0.25, drop: 0.1, corrupt: 0.05 };
/** A retry after hours becomes one within a minute. */
const TIME_SCALE = 500;
export const SWEEP_EVERY_SECONDS = 5;

export type Shop = {
  format: WireFormat;
  sim: Simulator;
  test: TestDatabase;
  downtimes: Downtime[];
  killAndRestart(): Promise<void>;
  close(): Promise<void>;
};

/**
 * A server with one provider's format in all slots, whose simulator loses, repeats, delays, swaps and damages
 * deliveries.
 */
export async function openShop(format: WireFormat, users: number): Promise<Shop> {
  const test = await freshDatabase(users);
  let server: ServerProcess;
  const sim = await simulator({
    formats: Object.fromEntries(SLOTS.map((slot) => [slot, format])),
    deliverTo: (slot) => `${server.url}/api/webhooks/${slot}`,
    timeScale: TIME_SCALE,
    keptEvents: 100_000,
  });
  const start = () =>
    spawnServer(test.url, {
      ...Object.assign({}, ...SLOTS.map((slot) => slotVariables(slot, format, sim.url))),
      SELF_HEAL: "on",
      RECONCILE: "on",
      RECONCILE_EVERY_SECONDS: String(SWEEP_EVERY_SECONDS),
      WEBHOOK_LEASE_SECONDS: "3",
    });
  server = await start();
  for (const slot of SLOTS) {
    for (const [kind, share] of Object.entries(FAULTS)) {
      await control(sim.url, `/${slot}/faults`, { kind, next: 0, share });
    }
  }
  const downtimes: Downtime[] = [];
  const killAndRestart = async () => {
    const downtime = { fromMs: Date.now(), untilMs: Number.POSITIVE_INFINITY };
    downtimes.push(downtime);
    await server.end("SIGKILL");
    server = await start();
    downtime.untilMs = Date.now();
  };
  let restarted = Promise.resolve();
  return {
    format,
    sim,
    test,
    downtimes,
    killAndRestart: () => {
      restarted = restarted.then(killAndRestart);
      return restarted;
    },
    close: async () => {
      await server.end("SIGTERM");
      await sim.close();
      await test.drop();
    },
  };
}

function slotVariables(slot: Slot, format: WireFormat, simulatorUrl: string): Record<string, string> {
  const prefix = variablePrefix(slot);
  return {
    [`${prefix}_ADAPTER`]: format,
    [`${prefix}_API_KEY`]: API_KEY,
    [`${prefix}_API_URL`]: `${simulatorUrl}/${slot}`,
  };
}
