import { perSlot, SLOTS, type Slot, variablePrefix } from "../domain/slot.ts";
import type { WireFormat } from "../providers/adapter.ts";
import { isLoopback } from "./loopback.ts";
import type { Values } from "./variables.ts";

export type SlotConfig = {
  /** Names of the variables, for messages. */
  secretVariable: string;
  apiKeyVariable: string;
  /** `null`: not configured. */
  secrets: readonly string[] | null;
  format: WireFormat;
  /** `null`: not configured; the simulator is used while it is on. */
  apiKey: string | null;
  /** `null`: the provider's production URL. */
  apiUrl: string | null;
};

export function readSlots(values: Values): Record<Slot, SlotConfig> {
  return perSlot((slot) => readSlot(slot, values));
}

function readSlot(slot: Slot, values: Values): SlotConfig {
  const name = variablePrefix(slot);
  const secretVariable = `${name}_WEBHOOK_SECRET` as const;
  const apiKeyVariable = `${name}_API_KEY` as const;
  return {
    secretVariable,
    apiKeyVariable,
    secrets: values[secretVariable] ?? null,
    format: values[`${name}_ADAPTER`],
    apiKey: values[apiKeyVariable] ?? null,
    apiUrl: values[`${name}_API_URL`] ?? null,
  };
}

/**
 * Unless `SIMULATOR` is set, the simulator is on only for local trials: the embedded database, no provider key,
 * a local `APP_URL`, not in production.
 */
export function readSimulator(values: Values, appUrl: string): { port: number } | null {
  const hasProvider = SLOTS.some((slot) => readSlot(slot, values).apiKey !== null);
  const isLocal = isLoopback(appUrl) && values.NODE_ENV !== "production";
  const isOn = values.SIMULATOR ? values.SIMULATOR === "on" : isLocal && !values.DATABASE_URL && !hasProvider;
  return isOn ? { port: values.SIMULATOR_PORT } : null;
}
