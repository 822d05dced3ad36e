import type { Slot } from "../domain/slot.ts";
import type { Tracing } from "../domain/tracing.ts";
import type { WireFormat } from "./adapter.ts";

/** How to connect to a slot's provider. */
export type PaymentConnection = {
  slot: Slot;
  format: WireFormat;
  apiKey: string;
  /** May contain a path, which is prepended to every request's; `null`: the provider's production URL. */
  apiUrl: string | null;
  tracing?: Tracing | null;
  /** Learns of what went wrong in a call that succeeded all the same. */
  log?: ProviderLog | null;
  /** For how long in all a call may wait for a rate limit, beyond the ten seconds of each; by default not at all. */
  maxLimitWaitMs?: number;
};

export type ProviderLog = { warn(facts: object, message: string): void };
