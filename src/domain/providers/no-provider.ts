import type { Slot } from "../slot.ts";

/** The problem of a slot without a provider's API key, for operators. */
export const NO_PROVIDER = "no payment provider is configured";

export function noProviderFor(slot: Slot): string {
  return `${NO_PROVIDER} for ${slot}`;
}
