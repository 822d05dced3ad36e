import type { PaymentEvent } from "../../domain/events/payment-event.ts";
import type { CancelResult } from "../../domain/providers/payment-api.ts";
import { PaymentApiProblem } from "../../domain/providers/payment-api-problem.ts";

/**
 * Cancels a subscription, which may have ended or be unknown. Providers reject the two with different, partly
 * undocumented errors (Stripe with the same one), so its state is fetched instead.
 */
export async function ensureEnded(
  cancel: () => Promise<unknown>,
  fetch: () => Promise<PaymentEvent | null>,
  isOver: (state: PaymentEvent) => boolean,
): Promise<CancelResult> {
  try {
    await cancel();
    return "canceled";
  } catch (refused) {
    if (!(refused instanceof PaymentApiProblem) || refused.failure === "unreachable") throw refused;
    const state = await fetch().catch(() => {
      throw refused;
    });
    if (state === null) return "unknown";
    if (!isOver(state)) throw refused;
    return "canceled";
  }
}

export function hasEnded(state: PaymentEvent): boolean {
  return state.status === "canceled";
}
