import type { RefusalCode } from "../domain/refusals/reason-definition.ts";
import { UNAVAILABLE_RETRY_AFTER_SECONDS } from "./retry-after.ts";

/** The HTTP status of every refusal. */
export const statusOf = {
  unauthorized: 401,
  forbidden: 403,
  rate_limited: 429,
  invalid_input: 400,
  too_large: 413,
  not_found: 404,
  method_not_allowed: 405,
  gone: 410,
  conflict: 409,
  unavailable: 503,
  internal: 500,
} as const satisfies Record<RefusalCode, number>;

/** The headers that belong to a status. */
export function statusHeaders(status: number): Record<string, string> {
  if (status === 401) return { "www-authenticate": 'Bearer realm="tollgate"' };
  return status === 503 ? { "retry-after": `${UNAVAILABLE_RETRY_AFTER_SECONDS}` } : {};
}
