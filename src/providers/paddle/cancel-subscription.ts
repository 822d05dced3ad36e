import type { ConnectedProvider } from "../outbound/connected-provider.ts";
import { pathSegment } from "../outbound/path-segment.ts";
import { RefusedByProvider } from "../outbound/problems.ts";
import { textAt } from "../outbound/response-fields.ts";
import type { SendRequest } from "../outbound/send-request.ts";
import { get, patch, post } from "./requests.ts";

/**
 * At once, except for one that is to end with its period: it is left to end then.
 * https://developer.paddle.com/errors/subscriptions/subscription_locked_pending_changes
 * @throws PaymentApiProblem
 */
export async function cancelSubscription(
  provider: ConnectedProvider,
  send: SendRequest,
  id: string,
): Promise<void> {
  const path = `/subscriptions/${pathSegment(provider, id)}`;
  const cancel = () =>
    send(post(provider, `${path}/cancel`, { effective_from: "immediately" }, { repeatable: true }));
  try {
    await cancel();
  } catch (error) {
    if (!isLockedByScheduledChange(error)) throw error;
    const action = textAt(await send(get(provider, path)), "data", "scheduled_change", "action");
    // Without its scheduled end it would renew if the next request failed.
    if (action === "cancel") return;
    await send(patch(provider, path, { scheduled_change: null }));
    await cancel();
  }
}

function isLockedByScheduledChange(error: unknown): boolean {
  return error instanceof RefusedByProvider && error.code === "subscription_locked_pending_changes";
}
