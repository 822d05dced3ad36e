import type { ProviderTraits } from "../domain/providers/provider-traits.ts";
import type { Adapter, Adapters, WireFormat } from "./adapter.ts";
import { lemonSqueezy } from "./lemon-squeezy/webhook.ts";
import { paddle } from "./paddle/webhook.ts";
import { polar } from "./polar/webhook.ts";
import type { Provider } from "./provider.ts";
import { stripe } from "./stripe/webhook.ts";

const PROVIDERS = new Map<WireFormat, Provider>();

/**
 * Makes a provider available to `PROVIDER_A_ADAPTER` and its siblings. @throws Error for a name that is
 * already registered
 */
export function registerProvider(provider: Provider): void {
  const { format } = provider.webhook;
  if (PROVIDERS.has(format)) throw new Error(`a provider named ${format} is already registered`);
  PROVIDERS.set(format, provider);
}

registerProvider({ webhook: stripe, loadApi: async () => (await import("./stripe/api.ts")).stripeApi });
registerProvider({ webhook: paddle, loadApi: async () => (await import("./paddle/api.ts")).paddleApi });
registerProvider({ webhook: polar, loadApi: async () => (await import("./polar/api.ts")).polarApi });
registerProvider({
  webhook: lemonSqueezy,
  loadApi: async () => (await import("./lemon-squeezy/api.ts")).lemonSqueezyApi,
});

export function wireFormats(): WireFormat[] {
  return [...PROVIDERS.keys()];
}

/** @throws Error for a name that is not registered */
export function providerOf(format: WireFormat): Provider {
  const provider = PROVIDERS.get(format);
  if (!provider) throw new Error(`no provider named ${format} is registered`);
  return provider;
}

export function traitsOf(format: WireFormat): ProviderTraits {
  return providerOf(format).webhook.traits;
}

export const ADAPTERS: Adapters = {
  of: (format): Adapter => providerOf(format).webhook,
  find: (format) => PROVIDERS.get(format)?.webhook ?? null,
};
