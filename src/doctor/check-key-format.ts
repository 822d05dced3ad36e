import type { Slot } from "../domain/slot.ts";
import type { WireFormat } from "../providers/adapter.ts";
import { traitsOf, wireFormats } from "../providers/registry.ts";
import { broken, type Finding } from "./finding.ts";

export type ConfiguredKey = { slot: Slot; format: WireFormat; apiKey: string; apiKeyVariable: string };

/**
 * Checks a key's format without a request; `null`: nothing is wrong. A key of another provider is not sent to
 * this one.
 */
export function checkKeyFormat(key: ConfiguredKey): Finding | null {
  const { slot, format, apiKey, apiKeyVariable } = key;
  const check = `${slot} key`;
  const traits = traitsOf(format);
  const owner = wireFormats().find((candidate) => hasPrefixOf(candidate, apiKey));
  if (owner !== undefined && !hasPrefixOf(format, apiKey)) {
    const adapterVariable = apiKeyVariable.replace("_API_KEY", "_ADAPTER");
    return broken(
      check,
      `${apiKeyVariable} begins like a key of ${traitsOf(owner).name}, and the slot uses ${traits.name}`,
      `Set ${apiKeyVariable} to ${traits.apiKey.hint}, or ${adapterVariable} to ${owner}.`,
    );
  }
  return null;
}

function hasPrefixOf(format: WireFormat, apiKey: string): boolean {
  return traitsOf(format).apiKey.prefixes.some((prefix) => apiKey.startsWith(prefix));
}
