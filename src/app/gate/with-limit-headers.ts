import type { Call } from "../../operations/operation.ts";
import { refusalOf } from "./refusal.ts";
import { currentRequest } from "./request.ts";

/**
 * Tells with the answer what a call has cost, in the same headers as everywhere, and with a refusal over the limit how long to
 * wait.
 */
export async function withLimitHeaders<Done>(call: Call, charged: () => Promise<Done>): Promise<Done> {
  const request = currentRequest();
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
