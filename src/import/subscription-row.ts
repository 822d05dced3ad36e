import { UnreadablePayload } from "../domain/deliveries/payload-problems.ts";
import type { PaymentEvent } from "../domain/events/payment-event.ts";
import { interpretState } from "../domain/providers/interpret-state.ts";
import type { Intake } from "../intake/intake.ts";

/** A subscription of a source. */
export type SubscriptionRow = {
  providerSubscriptionId: string | null;
  /** The provider's state without a time; `null`: it cannot be read, see `problem`. */
  state: PaymentEvent | null;
  problem: string | null;
  /** The customer's address, where it was asked for and is known. */
  email: string | null;
  /**
   * When the provider was asked, in microseconds; `null`: not known, so that whatever is known here is newer.
   */
  readAtMicros: number | null;
};

/** Reads an object of a provider's API, in the shape of a delivery. */
export function readState(
  adapter: ReturnType<Intake["adapters"]["of"]>,
  delivery: object,
): Pick<SubscriptionRow, "state" | "problem"> {
  try {
    return { state: interpretState(adapter, delivery), problem: null };
  } catch (error) {
    if (!(error instanceof UnreadablePayload)) throw error;
    return { state: null, problem: error.message };
  }
}
