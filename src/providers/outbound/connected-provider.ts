import type { PaymentApiFailure } from "../../domain/providers/payment-api-problem.ts";
import type { ProviderTraits } from "../../domain/providers/provider-traits.ts";
import type { ChangeObstacle } from "../../domain/refusals/change-obstacle.ts";
import { type Slot, variablePrefix } from "../../domain/slot.ts";
import type { Tracing } from "../../domain/tracing.ts";
import type { PaymentConnection, ProviderLog } from "../payment-connection.ts";
import { createPacer, type Pacer } from "./pacer.ts";

/** A slot's provider with what requests and messages need. */
export type ConnectedProvider = {
  slot: Slot;
  traits: ProviderTraits;
  apiKey: string;
  /** Without a trailing slash. */
  apiUrl: string;
  readError: ReadError;
  pacer: Pacer;
  tracing: Tracing | null;
  log: ProviderLog | null;
  /** For how long in all a call waits for a rate limit, beyond its own time. */
  maxLimitWaitMs: number;
};

/** Parses an error response; `null` when it is not in the provider's error format. */
export type ReadError = (status: number, body: unknown) => ProviderError | null;

export type ProviderError = {
  message: string;
  /** The provider's error code. */
  code: string | null;
  /** Set where the status alone would mislead; `busy`: not done, but a retry may succeed. */
  means?: PaymentApiFailure | "busy";
  /** Of a change that is `unsupported`. */
  obstacle?: ChangeObstacle;
};

export function connectProvider(
  { slot, apiKey, apiUrl, tracing = null, log = null, maxLimitWaitMs = 0 }: PaymentConnection,
  traits: ProviderTraits,
  readError: ReadError,
): ConnectedProvider {
  const url = (apiUrl ?? traits.productionUrl).replace(/\/+$/, "");
  // A provider on this machine, such as the simulator, has no rate limit.
  const limit = LOOPBACK.test(new URL(url).hostname) ? null : traits.requestLimit(url);
  const pacer = createPacer(limit);
  return { slot, traits, apiKey, apiUrl: url, readError, pacer, tracing, log, maxLimitWaitMs };
}

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** The name of one of the slot's variables, for instance `PROVIDER_A_API_KEY`. */
export function variableNameOf({ slot }: ConnectedProvider, setting: "API_KEY" | "API_URL"): string {
  return `${variablePrefix(slot)}_${setting}`;
}
