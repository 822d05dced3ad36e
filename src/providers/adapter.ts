import type { EventIdentity, PaymentEvent } from "../domain/events/payment-event.ts";
import type { ProviderTraits } from "../domain/providers/provider-traits.ts";

/** The name of a registered provider, as in `PROVIDER_A_ADAPTER`: for instance `stripe`. */
export type WireFormat = string;

/** A delivery as received: the signed bytes, and the headers by lower-case name. */
export type SignedRequest = {
  header(name: string): string | undefined;
  rawBody: Buffer;
};

export type VerifyOptions = {
  /** Trimmed, not empty; a signature that matches any of them verifies. */
  secrets: readonly string[];
  /** Seconds since the epoch. */
  nowSeconds: number;
  /** How far a signed timestamp may lie in the past or in the future, in seconds. */
  toleranceSeconds: number;
};

/** Which check failed: for the operator's log, never for the sender. */
export type SignatureProblem =
  | "header missing"
  | "header malformed"
  | "timestamp outside tolerance"
  | "no signature matches a secret"
  | "event name in the header differs from the signed one";

/** The inbound half of a provider: verifies and interprets its webhooks. */
export type Adapter = {
  readonly format: WireFormat;
  readonly traits: ProviderTraits;
  /** Checks the signature over the raw bytes; `null` when it is valid. Never throws. */
  verify(request: SignedRequest, options: VerifyOptions): SignatureProblem | null;
  /** Event id and type of a verified delivery. @throws InvalidPayload when either is missing or unusable. */
  identify(request: SignedRequest, body: unknown): EventIdentity;
  /**
   * Parses a payload from the stored JSON alone. @throws UnreadablePayload naming the field and its problem
   */
  interpret(eventType: string, body: unknown): PaymentEvent;
  /** The headers of a delivery with these bytes: for the simulator, the doctor and tests. */
  sign(rawBody: Buffer, options: SignOptions): Record<string, string>;
};

export type SignOptions = {
  secret: string;
  nowSeconds: number;
  /** Formats that carry the id or the name outside the body put them in a header. */
  eventId: string;
  eventType: string;
};

/** The adapters of all registered providers. */
export type Adapters = {
  /** @throws Error for a name that is not registered */
  of(format: WireFormat): Adapter;
  /** For names read from storage, whose provider may have been removed since. */
  find(format: string): Adapter | null;
};
