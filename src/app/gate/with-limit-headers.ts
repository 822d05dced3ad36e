import { Refusal } from "../../domain/refusals/refusal.ts";
import type { LimitCharge } from "../../limits/charge.ts";
import type { PageRequest } from "./page-request.ts";
import { type PageRefusal, refusalOf } from "./refusal.ts";
import { currentRequest } from "./request.ts";
import { isUnavailable } from "./unavailable.ts";

/**
 * Adds an action's rate-limit headers to the response, and the status and digest of its refusal.
 * @throws Refusal, also while the database is away
 */
export async function withLimitHeaders<Done>(
  charges: readonly LimitCharge[],
  charged: () => Promise<Done>,
): Promise<Done> {
  const request = await currentRequest();
  try {
    return await charged();
  } catch (error) {
    const refusal = refusalOf(error) ?? refusalOfOutage(error, request);
    if (refusal === null) throw error;
    // The only part of a thrown error that Next.js sends in production.
    refusal.digest = `refusal:${refusal.code}`;
    request.setErrorStatus(refusal.code);
    throw refusal;
  } finally {
    request.charged(charges);
  }
}

function refusalOfOutage(error: unknown, { id, log }: PageRequest): PageRefusal | null {
  if (!isUnavailable(error)) return null;
  log.error({ err: error, requestId: id }, "action failed");
  return new Refusal({ reason: "unavailable" });
}
