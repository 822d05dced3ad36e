import { randomUUID } from "node:crypto";
import type { RateLimit } from "../../src/limits/rate-limit.ts";
import { eventually } from "../support/eventually.ts";

/**
 * Resolves once the limiter counts in Redis: it starts without a connection that takes long, as on a busy machine.
 * @param tick moves the limiter's clock on, which decides when it tries again
 */
export async function untilShared(rateLimit: RateLimit, tick: () => void = () => {}): Promise<void> {
  const isShared = async () => {
    tick();
    await rateLimit(`billing:${randomUUID()}`, { limit: 1, windowSeconds: 60 });
    return true;
  };
  await eventually(() => isShared().catch(() => false), true);
}
