import type { CancelResult } from "../../domain/payment-api.ts";
import { PaymentApiProblem } from "../../domain/payment-api-problem.ts";
import type { PaymentEvent } from "../../domain/payment-event.ts";
import type { ConnectedProvider } from "./connected-provider.ts";
import { problem } from "./problems.ts";

/**
 * Encodes an id as a path segment. All providers' ids consist of these characters; others could change the
 * path.
 * @throws PaymentApiProblem
 */
export function pathSegment(provider: ConnectedProvider, id: string): string {
  if (/^[\w-]{1,255}$/.test(id)) return id;
  throw problem(provider, "missing", "no id of this provider's has such characters");
}

/** `null` when the provider has no such object. */
export async function nullIfNotFound<Result>(call: () => Promise<Result>): Promise<Result | null> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof PaymentApiProblem && error.failure === "missing") return null;
    throw error;
  }
}

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
