import type { PaymentApiFailure } from "../../domain/payment-api.ts";
import type { ProviderTraits } from "../../domain/provider-traits.ts";
import type { Slot } from "../../domain/slot.ts";
import type { PaymentConnection } from "../payment-connection.ts";
import { createPacer, type Pacer } from "./pacer.ts";

/** A slot's provider, as requests to it and messages about it need to know it. */
export type ConnectedProvider = {
  slot: Slot;
  traits: ProviderTraits;
  apiKey: string;
  /** Without a slash at the end. */
  apiUrl: string;
  readError: ReadError;
  pacer: Pacer;
};

/** What a response that is no success says; `null` when it does not have the provider's error format. */
export type ReadError = (status: number, body: unknown) => ProviderError | null;

export type ProviderError = {
  message: string;
  /** The provider's name for what is wrong. */
  code: string | null;
  /** Where the status alone would mislead; `busy`: not done, but a repeat may succeed. */
  means?: PaymentApiFailure | "busy";
};

export function connectProvider(
  { slot, apiKey, apiUrl }: PaymentConnection,
  traits: ProviderTraits,
  readError: ReadError,
): ConnectedProvider {
  const url = (apiUrl ?? traits.productionUrl).replace(/\/+$/, "");
  // A provider on this machine, the simulator above all, has no limit to keep.
  const limit = LOOPBACK.test(new URL(url).hostname) ? null : traits.requestLimit(url);
  return { slot, traits, apiKey, apiUrl: url, readError, pacer: createPacer(limit) };
}

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** The name of one of the slot's variables, `PROVIDER_A_API_KEY` for instance. */
export function variableNameOf({ slot }: ConnectedProvider, what: "API_KEY" | "API_URL"): string {
  return `${slot.toUpperCase().replace("-", "_")}_${what}`;
}
