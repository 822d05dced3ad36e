import { limitRepeats, type ThrottledLog } from "../observability/limit-repeats.ts";

const NAMES = ["eventId", "subscriptionId", "providerSubscriptionId", "providerPaymentId"];

/**
 * Limits what thousands of deliveries may meet alike, as while the database is away. What names an event, a subscription
 * or a payment is an operator's to look at: each such entry is written.
 */
export function intakeLog(log: ThrottledLog): ThrottledLog {
  const limited = limitRepeats(log);
  const logFor = (fields: object) => (NAMES.some((name) => name in fields) ? log : limited);
  return {
    error: (fields, message) => logFor(fields).error(fields, message),
    warn: (fields, message) => logFor(fields).warn(fields, message),
    debug: limited.debug,
  };
}
