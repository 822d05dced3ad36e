import type { ChangeObstacle } from "../../domain/refusals/change-obstacle.ts";
import type { ApiRequest } from "../outbound/api-request.ts";
import type { ConnectedProvider, ProviderError } from "../outbound/connected-provider.ts";
import { listAt, textAt } from "../outbound/response-fields.ts";

export function get(provider: ConnectedProvider, path: string): ApiRequest {
  return { method: "GET", path, headers: headersOf(provider), repeatable: true };
}

export function post(
  provider: ConnectedProvider,
  path: string,
  body: object,
  { repeatable }: { repeatable: boolean },
): ApiRequest {
  const headers = { ...headersOf(provider), "content-type": "application/json" };
  return { method: "POST", path, headers, body: JSON.stringify(body), repeatable };
}

/** An update is idempotent. */
export function patch(provider: ConnectedProvider, path: string, body: object): ApiRequest {
  return { ...post(provider, path, body, { repeatable: true }), method: "PATCH" };
}

function headersOf(provider: ConnectedProvider): Record<string, string> {
  return {
    authorization: `Bearer ${provider.apiKey}`,
    accept: "application/json",
    "paddle-version": "1",
    "user-agent": "tollgate",
  };
}

/**
 * Of a subscription for which something is scheduled, which renews within half an hour, which owes a payment, whose refund
 * waits for Paddle's approval, or which has ended; and of a change that costs less than 70 US cents.
 * https://developer.paddle.com/errors
 */
const OBSTACLES: ReadonlyMap<string, ChangeObstacle> = new Map([
  ["subscription_locked_pending_changes", "scheduled_change"],
  ["subscription_locked_processing", "renewing"],
  ["subscription_locked_renewal", "renewing"],
  ["subscription_outstanding_transaction", "payment_open"],
  ["subscription_update_when_past_due", "payment_open"],
  ["subscription_credit_creation_against_uncompleted_transaction_not_allowed", "payment_open"],
  ["subscription_outstanding_pending_refund", "refund_open"],
  ["subscription_update_when_canceled", "not_offered"],
  // 20 charges an hour, 100 a day: https://developer.paddle.com/changelog/2024/subscription-immediate-charge-limits
  ["subscription_immediate_charge_hour_limit_exceeded", "changed_often"],
  ["subscription_immediate_charge_24_hour_limit_exceeded", "changed_often"],
  ["subscription_update_transaction_balance_less_than_charge_limit", "charge_too_small"],
]);

/** For want of a payment method, too: a trial may begin without one, and a customer may have removed it. */
const DECLINED = new Set([
  "subscription_payment_declined",
  "subscription_missing_payment_method_cannot_update",
  "subscription_price_requires_payment_method_on_cardless_trial",
]);

/** Also while the payment that a change would credit is still being processed: a moment later it is not. */
const BUSY = new Set([
  "concurrent_modification",
  "subscription_credit_creation_against_processing_transaction",
]);

export function readPaddleError(status: number, body: unknown): ProviderError | null {
  const code = textAt(body, "error", "code");
  if (code === null) return null;
  const fields = listAt(body, "error", "errors").map(
    (error) => `${textAt(error, "field")}: ${textAt(error, "message")}`,
  );
  const message = [textAt(body, "error", "detail") ?? code, ...fields].join("; ");
  if (BUSY.has(code)) return { message, code, means: "busy" };
  if (DECLINED.has(code)) return { message, code, means: "declined" };
  const obstacle = OBSTACLES.get(code);
  if (obstacle !== undefined) return { message, code, means: "unsupported", obstacle };
  // An unknown path returns 404 as well.
  return status === 404 && !code.endsWith("not_found") ? null : { message, code };
}
