import type { WireFormat } from "../providers/adapter.ts";
import { simulatedLemonSqueezy } from "./lemon-squeezy/simulated.ts";
import { simulatedPaddle } from "./paddle/simulated.ts";
import { simulatedPolar } from "./polar/simulated.ts";
import type { SimulatedProvider } from "./simulated-provider.ts";
import { simulatedStripe } from "./stripe/simulated.ts";

const PROVIDERS = new Map<WireFormat, SimulatedProvider>();

/** @throws Error for a name that is taken */
export function registerSimulatedProvider(provider: SimulatedProvider): void {
  if (PROVIDERS.has(provider.format))
    throw new Error(`a simulated provider named ${provider.format} is already registered`);
  PROVIDERS.set(provider.format, provider);
}

for (const provider of [simulatedStripe, simulatedPaddle, simulatedPolar, simulatedLemonSqueezy])
  registerSimulatedProvider(provider);

/** @throws Error for a name that is not registered */
export function simulatedProviderOf(format: WireFormat): SimulatedProvider {
  const provider = PROVIDERS.get(format);
  if (!provider) throw new Error(`no simulated provider named ${format} is registered`);
  return provider;
}
