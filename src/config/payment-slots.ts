import { SLOTS, type Slot } from "../domain/slot.ts";
import type { WireFormat } from "../providers/adapter.ts";
import type { Values } from "./variables.ts";

export type SlotConfig = {
  /** The variables to set, for messages. */
  secretVariable: string;
  apiKeyVariable: string;
  /** `null`: not configured. */
  secrets: readonly string[] | null;
  format: WireFormat;
  /** `null`: not configured, which the simulator stands in for when it is on. */
  apiKey: string | null;
  /** `null`: where the provider itself says that it is. */
  apiUrl: string | null;
};

export function readSlots(values: Values): Record<Slot, SlotConfig> {
  return Object.fromEntries(SLOTS.map((slot) => [slot, readSlot(slot, values)])) as Record<Slot, SlotConfig>;
}

function readSlot(slot: Slot, values: Values): SlotConfig {
  const name = slot.replace("-", "_").toUpperCase() as "PROVIDER_A" | "PROVIDER_B" | "PROVIDER_C";
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

/** On unless said otherwise where nothing else is configured: on one's own machine, without any provider's key. */
export function readSimulator(values: Values): { port: number } | null {
  const hasProvider = SLOTS.some((slot) => readSlot(slot, values).apiKey !== null);
  const isOn = values.SIMULATOR ? values.SIMULATOR === "on" : !values.DATABASE_URL && !hasProvider;
  return isOn ? { port: values.SIMULATOR_PORT } : null;
}
