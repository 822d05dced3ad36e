import type { Hono } from "hono";
import type { WireFormat } from "../providers/adapter.ts";
import type { Renderer } from "./renderer.ts";
import type { ProviderSlot } from "./server/provider-slot.ts";
import type { SimulatorTraits } from "./simulator-traits.ts";

/** A payment provider as the simulator plays it: a folder of this room, registered in `registry.ts`. */
export type SimulatedProvider = {
  format: WireFormat;
  traits: SimulatorTraits;
  renderer: Renderer;
  /** The calls of the provider's API that a seller of subscriptions makes. */
  createApi(slot: ProviderSlot): Hono;
};
