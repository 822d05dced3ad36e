import type { PaymentApi } from "../domain/payment-api.ts";
import { SLOTS, type Slot } from "../domain/slot.ts";
import type { WireFormat } from "../providers/adapter.ts";
import { createPaymentApi } from "../providers/create-payment-api.ts";
import type { Config } from "./config.ts";
import type { EmbeddedSecrets } from "./embedded-secrets.ts";

/** With what a slot's provider is asked, and where. */
export type PaymentAccess = {
  format: WireFormat;
  apiKey: string;
  /** `null`: where the provider itself says that it is. */
  apiUrl: string | null;
  isSimulated: boolean;
};

/** The keys that are configured; the simulated provider stands in for those that are not, where it is on. */
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
  return Object.fromEntries(SLOTS.map((slot) => [slot, accessTo(slot)])) as Record<
    Slot,
    PaymentAccess | null
  >;
}

export function connectPayments(access: Record<Slot, PaymentAccess | null>): Record<Slot, PaymentApi | null> {
  return Object.fromEntries(
    SLOTS.map((slot) => {
      const given = access[slot];
      if (given === null) return [slot, null];
      const { format, apiKey, apiUrl } = given;
      return [slot, createPaymentApi({ slot, format, apiKey, apiUrl })];
    }),
  ) as Record<Slot, PaymentApi | null>;
}

/** What deliveries are signed with. The simulated provider signs with secrets that nobody has to configure. */
export function webhookSecrets(
  { slots, databaseUrl, simulator }: Config,
  kept: EmbeddedSecrets | null,
): Record<Slot, readonly string[]> {
  const secretsOf = (slot: Slot) => {
    const { secrets, apiKey } = slots[slot];
    const isOurs = databaseUrl === null || (simulator !== null && apiKey === null);
    return secrets ?? (isOurs && kept !== null ? [kept.webhookSecrets[slot]] : []);
  };
  return Object.fromEntries(SLOTS.map((slot) => [slot, secretsOf(slot)])) as Record<Slot, readonly string[]>;
}
