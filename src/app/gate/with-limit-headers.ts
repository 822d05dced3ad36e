import type { Call } from "../../operations/operation.ts";
import { refusalOf } from "./refusal.ts";
import { currentRequest } from "./request.ts";

/**
 * Adds the rate-limit headers of a call to the response, and `Retry-After` when it was refused.
 */
export async function withLimitHeaders<Done>(call: Call, charged: () => Promise<Done>): Promise<Done> {
  const request = await currentRequest();
  try {
    return await charged();
  } catch (error) {
    const refusal = refusalOf(error);
    // All that Next.js lets out of what an action throws in production.
    if (refusal) {
      refusal.digest = `refusal:${refusal.code}`;
      request.setErrorStatus(refusal.code);
    }
    throw error;
  } finally {
    request.charged(call.charges);
  }
}
