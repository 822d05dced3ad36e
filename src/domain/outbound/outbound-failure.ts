export const OUTBOUND_TIMEOUT_SECONDS = 15;

/** Why an event was not sent, or had no response, as the API says it. What the network reports is said as it is. */
export const OUTBOUND_FAILURES = {
  url: "the URL is not allowed",
  address: "the URL leads to an address that is not public",
  unresolved: "the name of the host has no address",
  timeout: noResponseWithin(OUTBOUND_TIMEOUT_SECONDS),
  not_stored: "the event is no longer stored, or cannot be read",
} as const;

type OutboundFailure = keyof typeof OUTBOUND_FAILURES;

const BY_SENTENCE = new Map<string, OutboundFailure>(
  Object.entries(OUTBOUND_FAILURES).map(([failure, sentence]) => [sentence, failure as OutboundFailure]),
);
// As it was stored before.
BY_SENTENCE.set("the event is no longer stored", "not_stored");

/** Attempts are stored with the sentence. `undefined`: the network's own words. */
export function outboundFailureOf(sentence: string): OutboundFailure | undefined {
  return BY_SENTENCE.get(sentence);
}

export function noResponseWithin(seconds: number): string {
  return `no response within ${seconds} s`;
}
