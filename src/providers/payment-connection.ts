import type { Slot } from "../domain/slot.ts";
import type { WireFormat } from "./adapter.ts";

/** How to reach a slot's provider. */
export type PaymentConnection = {
  slot: Slot;
  format: WireFormat;
  apiKey: string;
  /** May have a path of its own, which then precedes every path; `null`: the provider's production URL. */
  apiUrl: string | null;
};
