import type { PaymentApi } from "../domain/providers/payment-api.ts";
import type { Adapter } from "./adapter.ts";
import type { PaymentConnection } from "./payment-connection.ts";

/** A payment provider: a folder here, registered in `registry.ts`. */
export type Provider = {
  webhook: Adapter;
  /** Loads the outbound half, with the provider's SDK, on first use. */
  loadApi(): Promise<(connection: PaymentConnection) => PaymentApi>;
};
