import { traitsOf } from "../providers/registry.ts";
import type { ConfiguredKey } from "./check-key-format.ts";
import { broken, type Finding, warning } from "./finding.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const WARN_BEFORE_DAYS = 14;

/**
 * Warns of a key that expires soon, by the date in the key or else its provider's usual lifetime. `null`: it
 * does not, or the expiry is unknown.
 * @param usedSince when a server was first started with it
 */
export function checkKeyExpiry(key: ConfiguredKey, usedSince: Date | null, now: Date): Finding | null {
  const { slot, format, apiKey, apiKeyVariable } = key;
  const check = `${slot} key`;
  const { name, apiKey: traits } = traitsOf(format);
  const remedy = `Create a new key at ${name} and set ${apiKeyVariable} to it.`;
  const expiresAt = traits.expiresAt(apiKey);
  if (expiresAt !== null) {
    const daysLeft = Math.floor((expiresAt.getTime() - now.getTime()) / DAY_MS);
    if (daysLeft > WARN_BEFORE_DAYS) return null;
    if (daysLeft < 0) return broken(check, `${apiKeyVariable} has expired`, remedy);
    return warning(check, `${apiKeyVariable} expires in ${daysText(daysLeft)}`, remedy);
  }
  if (traits.lifetimeDays === null || usedSince === null) return null;
  const daysUsed = Math.floor((now.getTime() - usedSince.getTime()) / DAY_MS);
  if (daysUsed < traits.lifetimeDays - WARN_BEFORE_DAYS) return null;
  const used = `${apiKeyVariable} has been in use for ${daysUsed} days`;
  const usual = `${name}'s keys expire after ${traits.lifetimeDays} unless you chose otherwise`;
  return warning(check, `${used}, and ${usual}`, remedy);
}

function daysText(days: number): string {
  if (days === 0) return "less than a day";
  return days === 1 ? "1 day" : `${days} days`;
}
