import { PaymentApiProblem } from "../../domain/payment-api.ts";
import type { PaymentEvent } from "../../domain/payment-event.ts";
import type { ConnectedProvider } from "./connected-provider.ts";
import { problem } from "./problems.ts";

/**
 * An id as a segment of a path. All providers' ids are of these characters: what is not leads nowhere, or somewhere else.
 * @throws PaymentApiProblem
 */
export function pathSegment(provider: ConnectedProvider, id: string): string {
  if (/^[\w-]{1,255}$/.test(id)) return id;
  throw problem(provider, "missing", "no id of this provider's has such characters");
}

/** `null` for what the provider does not know. */
export async function nullIfNotFound<Answer>(ask: () => Promise<Answer>): Promise<Answer | null> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof PaymentApiProblem && error.failure === "missing") return null;
    throw error;
  }
}

/**
 * Cancels; what is not known, or is over already, is as good as cancelled. Each provider refuses the latter in words of
 * its own, and not all document them: the state is looked at instead.
 */
export async function ensureEnded(
  cancel: () => Promise<unknown>,
  look: () => Promise<PaymentEvent | null>,
  isOver: (state: PaymentEvent) => boolean,
): Promise<void> {
  try {
    await nullIfNotFound(cancel);
  } catch (refused) {
    if (!(refused instanceof PaymentApiProblem) || refused.failure === "unreachable") throw refused;
    const state = await look().catch(() => {
      throw refused;
    });
    if (state !== null && !isOver(state)) throw refused;
  }
}

export function hasEnded(state: PaymentEvent): boolean {
  return state.status === "canceled";
}
