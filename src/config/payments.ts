import { hash } from "node:crypto";
import type { Payments } from "../domain/providers/payment-api.ts";
import type { ProviderTraits } from "../domain/providers/provider-traits.ts";
import { perSlot, type Slot } from "../domain/slot.ts";
import type { WireFormat } from "../providers/adapter.ts";
import { createPaymentApi } from "../providers/create-payment-api.ts";
import type { PaymentConnection } from "../providers/payment-connection.ts";
import { traitsOf } from "../providers/registry.ts";
import type { Config } from "./config.ts";
import type { EmbeddedSecrets } from "./embedded-secrets.ts";

/** Provider API credentials of a slot. */
export type PaymentAccess = {
  format: WireFormat;
  apiKey: string;
  /** `null`: the provider's production URL. */
  apiUrl: string | null;
  isSimulated: boolean;
};

/** The configured keys; while the simulator is on, it serves the slots without one. */
export function paymentAccess(
  { slots, simulator }: Config,
  embedded: EmbeddedSecrets | null,
  simulatorUrl: string | null = simulator && simulator.port !== 0
    ? `http://127.0.0.1:${simulator.port}`
    : null,
): Record<Slot, PaymentAccess | null> {
  const accessTo = (slot: Slot): PaymentAccess | null => {
    const { format, apiKey, apiUrl } = slots[slot];
    if (apiKey !== null) return { format, apiKey, apiUrl, isSimulated: false };
    if (simulatorUrl === null || embedded === null) return null;
    return { format, apiKey: embedded.apiKeys[slot], apiUrl: `${simulatorUrl}/${slot}`, isSimulated: true };
  };
  return perSlot(accessTo);
}

export function providerTraits({ slots }: Pick<Config, "slots">): Record<Slot, ProviderTraits> {
  return perSlot((slot) => traitsOf(slots[slot].format));
}

export function connectPayments(
  access: Record<Slot, PaymentAccess | null>,
  options: Pick<PaymentConnection, "tracing" | "log" | "maxLimitWaitMs"> = {},
): Payments {
  return perSlot((slot) => {
    const slotAccess = access[slot];
    if (slotAccess === null) return null;
    const { format, apiKey, apiUrl } = slotAccess;
    return createPaymentApi({ slot, format, apiKey, apiUrl, ...options });
  });
}

/** Tells the accounts of different keys and addresses apart; a key that was rotated counts as another account's. */
export function providerAccountsOf(access: Record<Slot, PaymentAccess | null>): Record<Slot, string | null> {
  return perSlot((slot) => {
    const slotAccess = access[slot];
    return slotAccess && hash("sha256", JSON.stringify([slotAccess.apiKey, slotAccess.apiUrl]), "base64url");
  });
}

/**
 * The signing secrets of each slot. While the simulator runs, its own are accepted too, in the slots that it
 * serves.
 */
export function webhookSecrets(
  { slots, databaseUrl, simulator }: Config,
  embedded: EmbeddedSecrets | null,
): Record<Slot, readonly string[]> {
  const secretsOf = (slot: Slot) => {
    const { secrets, apiKey } = slots[slot];
    const generated = databaseUrl === null && embedded !== null ? [embedded.webhookSecrets[slot]] : [];
    const simulated =
      simulator !== null && apiKey === null && embedded !== null ? [embedded.simulatorSecrets[slot]] : [];
    return [...(secrets ?? generated), ...simulated];
  };
  return perSlot(secretsOf);
}
