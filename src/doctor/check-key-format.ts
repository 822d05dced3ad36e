import type { Slot } from "../domain/slot.ts";
import type { WireFormat } from "../providers/adapter.ts";
import { traitsOf, wireFormats } from "../providers/registry.ts";
import { broken, type Finding, warning } from "./finding.ts";

export type ConfiguredKey = { slot: Slot; format: WireFormat; apiKey: string; apiKeyVariable: string };

const DAY_MS = 24 * 60 * 60 * 1000;
const WARN_BEFORE_DAYS = 14;

/** What a key shows without asking anybody; `null`: nothing is wrong. A key of another provider is not sent to this one. */
export function checkKeyFormat(key: ConfiguredKey, now: Date): Finding | null {
  const { slot, format, apiKey, apiKeyVariable } = key;
  const check = `${slot} key`;
  const traits = traitsOf(format);
  const owner = wireFormats().find((other) => hasPrefixOf(other, apiKey));
  if (owner !== undefined && !hasPrefixOf(format, apiKey)) {
    const adapterVariable = apiKeyVariable.replace("_API_KEY", "_ADAPTER");
    return broken(
      check,
      `${apiKeyVariable} begins like a key of ${traitsOf(owner).name}, and the slot uses ${traits.name}`,
      `Set ${apiKeyVariable} to ${traits.apiKey.hint}, or ${adapterVariable} to ${owner}.`,
    );
  }
  const expiresAt = traits.apiKey.expiresAt(apiKey);
  const daysLeft = expiresAt === null ? null : Math.floor((expiresAt.getTime() - now.getTime()) / DAY_MS);
  if (daysLeft === null || daysLeft > WARN_BEFORE_DAYS) return null;
  const remedy = `Create a new key at ${traits.name} and set ${apiKeyVariable} to it.`;
  if (daysLeft < 0) return broken(check, `${apiKeyVariable} has expired`, remedy);
  return warning(check, `${apiKeyVariable} expires in ${daysLeft} days`, remedy);
}

function hasPrefixOf(format: WireFormat, apiKey: string): boolean {
  return traitsOf(format).apiKey.prefixes.some((prefix) => apiKey.startsWith(prefix));
}
