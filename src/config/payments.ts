import type { PaymentApi } from "../domain/payment-api.ts";
import { perSlot, type Slot } from "../domain/slot.ts";
import type { WireFormat } from "../providers/adapter.ts";
import { createPaymentApi } from "../providers/create-payment-api.ts";
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

/** The configured keys; the simulator stands in for missing ones while it is on. */
export function paymentAccess(
  { slots, simulator }: Config,
  kept: EmbeddedSecrets | null,
  simulatorUrl: string | null = simulator && simulator.port !== 0
    ? `http://127.0.0.1:${simulator.port}`
    : null,
): Record<Slot, PaymentAccess | null> {
  const accessTo = (slot: Slot): PaymentAccess | null => {
    const { format, apiKey, apiUrl } = slots[slot];
    if (apiKey !== null) return { format, apiKey, apiUrl, isSimulated: false };
    if (simulatorUrl === null || kept === null) return null;
    return { format, apiKey: kept.apiKeys[slot], apiUrl: `${simulatorUrl}/${slot}`, isSimulated: true };
  };
  return perSlot(accessTo);
}

export function connectPayments(access: Record<Slot, PaymentAccess | null>): Record<Slot, PaymentApi | null> {
  return perSlot((slot) => {
    const given = access[slot];
    if (given === null) return null;
    const { format, apiKey, apiUrl } = given;
    return createPaymentApi({ slot, format, apiKey, apiUrl });
  });
}

/** What deliveries may be signed with. While the simulator runs, its own secrets are accepted besides, in slots that it serves. */
export function webhookSecrets(
  { slots, databaseUrl, simulator }: Config,
  kept: EmbeddedSecrets | null,
): Record<Slot, readonly string[]> {
  const secretsOf = (slot: Slot) => {
    const { secrets, apiKey } = slots[slot];
    const generated = databaseUrl === null && kept !== null ? [kept.webhookSecrets[slot]] : [];
    const simulated =
      simulator !== null && apiKey === null && kept !== null ? [kept.simulatorSecrets[slot]] : [];
    return [...(secrets ?? generated), ...simulated];
  };
  return perSlot(secretsOf);
}
