import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/config-error.ts";
import type { EmbeddedSecrets } from "../config/embedded-secrets.ts";
import { perSlot, type Slot } from "../domain/slot.ts";
import type { Log } from "../observability/log.ts";
import type { SlotBinding } from "../providers/slots.ts";

export type RunningSimulator = { url: string; close(): Promise<void> };

type SimulatorOptions = {
  log: Log;
  /** The URL of a slot's webhook endpoint; without it, no simulator is started. */
  deliverTo?: (slot: Slot) => string;
};

/** Starts the simulator where configured. @throws ConfigError when its port is taken */
export async function startSimulatedProvider(
  { simulator, dataDir, appUrl, plans }: Config,
  embedded: EmbeddedSecrets | null,
  slots: Record<Slot, SlotBinding>,
  { log, deliverTo }: SimulatorOptions,
): Promise<RunningSimulator | null> {
  if (simulator === null || embedded === null || deliverTo === undefined) return null;
  const { startSimulator } = await import("../simulator/server/start-simulator.ts");
  try {
    return await startSimulator({
      host: "127.0.0.1",
      port: simulator.port,
      slots: perSlot((slot) => ({
        format: slots[slot].format,
        apiKey: embedded.apiKeys[slot],
        webhookSecret: embedded.simulatorSecrets[slot],
      })),
      plans,
      deliverTo,
      returnUrl: () => `${appUrl}/billing`,
      stateFile: join(dataDir, "simulator.json"),
      log,
    });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EADDRINUSE" && code !== "EACCES") throw error;
    const problem = code === "EACCES" ? "may not be listened on" : "is in use";
    throw new ConfigError(
      `SIMULATOR_PORT: port ${simulator.port} ${problem}, e.g. SIMULATOR_PORT=${simulator.port + 10}, or SIMULATOR=off`,
    );
  }
}
