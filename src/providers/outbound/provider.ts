import type { PaymentApiFailure } from "../../domain/payment-api.ts";
import type { Slot } from "../../domain/slot.ts";
import type { PaymentConnection } from "./payment-connection.ts";

/** A slot's provider, as the requests to it and the messages about it need to know it. */
export type Provider = {
  slot: Slot;
  /** As people know it. */
  name: string;
  apiKey: string;
  /** Without a slash at the end. */
  apiUrl: string;
  /** What its keys are, and where one is found. */
  keyHint: string;
  /** What an answer that is no success says; `null` when it is not in the provider's own words. */
  readRefusal(status: number, body: unknown): Refusal | null;
};

export type Refusal = {
  words: string;
  /** The provider's name for what is wrong. */
  code: string | null;
  /** Where the status alone would mislead; `busy`: not done, but soon it could be. */
  means?: PaymentApiFailure | "busy";
};

type Kind = { name: string; productionUrl: string; keyHint: string; readRefusal: Provider["readRefusal"] };

export function providerAt({ slot, apiKey, apiUrl }: PaymentConnection, kind: Kind): Provider {
  const { name, productionUrl, keyHint, readRefusal } = kind;
  return { slot, name, apiKey, apiUrl: (apiUrl ?? productionUrl).replace(/\/+$/, ""), keyHint, readRefusal };
}

/** The name of one of the slot's variables, `PROVIDER_A_API_KEY` for instance. */
export function variableOf(provider: Provider, what: "API_KEY" | "API_URL"): string {
  return `${provider.slot.toUpperCase().replace("-", "_")}_${what}`;
}
