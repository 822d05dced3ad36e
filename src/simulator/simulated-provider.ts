import type { Hono } from "hono";
import type { WireFormat } from "../providers/adapter.ts";
import type { Renderer } from "./renderer.ts";
import type { ProviderSlot } from "./server/provider-slot.ts";
import type { SimulatorTraits } from "./simulator-traits.ts";

/** A simulated payment provider: a folder here, registered in `registry.ts`. */
export type SimulatedProvider = {
  format: WireFormat;
  traits: SimulatorTraits;
  renderer: Renderer;
  /** The API routes that a seller of subscriptions uses. */
  createApi(slot: ProviderSlot): Hono;
};
