import type { Call } from "../../operations/operation.ts";
import { refusalOf } from "./refusal.ts";
import { currentRequest } from "./request.ts";

/** Says with a refusal over the limit how long to wait, as `Retry-After` does elsewhere. */
export async function withWait<Done>(call: Call, charged: () => Promise<Done>): Promise<Done> {
  try {
    return await charged();
  } catch (error) {
    const refusal = refusalOf(error);
    const last = call.charges.at(-1);
    if (refusal?.code === "rate_limited" && last) {
      const leftMs = last.resetAt - currentRequest().deps.limits.now();
      refusal.retryAfterSeconds = Math.max(1, Math.ceil(leftMs / 1000));
    }
    throw error;
  }
}
