import type { PaymentApi } from "../domain/payment-api.ts";
import type { Adapter } from "./adapter.ts";
import type { PaymentConnection } from "./payment-connection.ts";

/** Everything the product knows of a payment provider: a folder of this room, registered in `registry.ts`. */
export type Provider = {
  webhook: Adapter;
  /** Loads the outbound half, and the provider's SDK with it, when it is first used. */
  loadApi(): Promise<(connection: PaymentConnection) => PaymentApi>;
};
