import { setTimeout as sleep } from "node:timers/promises";
import { refuse } from "../domain/refusals/refusal.ts";

/** After a crash, another request can take over once the lease of the checkout has expired. */
export const LEASE_SECONDS = 12;
const WAIT_MS = (LEASE_SECONDS + 3) * 1_000;
const RETRY_MS = 100;

/**
 * Repeats an attempt while another process holds the lease of the person's checkout.
 * @param attempt `null`: another process holds it
 * @throws Refusal `unavailable` after 15 s
 */
export async function waitForLease<Result>(attempt: () => Promise<Result | null>): Promise<Result> {
  const giveUpAt = performance.now() + WAIT_MS;
  for (;;) {
    const result = await attempt();
    if (result !== null) return result;
    if (performance.now() >= giveUpAt) refuse({ reason: "checkout_in_progress" });
    await sleep(RETRY_MS);
  }
}
