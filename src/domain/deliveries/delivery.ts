/** The values of `webhook_delivery.status`. */
export const DELIVERY_STATUSES = ["pending", "successful", "failed"] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** What triggered an attempt. */
export const ATTEMPT_SOURCES = ["delivery", "retry", "replay", "reconcile"] as const;
export type AttemptSource = (typeof ATTEMPT_SOURCES)[number];

export const MAX_ATTEMPTS = 12;

const FIRST_WAIT_SECONDS = 15;
const MAX_WAIT_SECONDS = 6 * 60 * 60;
const JITTER = 0.2;

/**
 * How long to wait after failure number `attempts`, see `backOffSeconds`; `null` when all attempts are used
 * up.
 * @param random uniform in [0, 1)
 */
export function secondsUntilRetry(attempts: number, random: number): number | null {
  return attempts >= MAX_ATTEMPTS ? null : backOffSeconds(attempts, random);
}

/**
 * `min(15 s * 4^(n-1), 6 h)` after failure number `attempts`, give or take 20 %. @param random uniform in [0,
 * 1)
 */
export function backOffSeconds(attempts: number, random: number): number {
  const wait = Math.min(FIRST_WAIT_SECONDS * 4 ** (attempts - 1), MAX_WAIT_SECONDS);
  return wait * (1 + JITTER * (2 * random - 1));
}
