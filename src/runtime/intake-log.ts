import { limitRepeats, type ThrottledLog } from "../observability/limit-repeats.ts";

const NEVER_LIMITED = ["eventId", "subscriptionId", "providerSubscriptionId", "providerPaymentId"];

/**
 * Limits the entries that thousands of deliveries can cause at once, as while the database is away. Those that name an
 * event, a subscription or a payment are always written: an operator has to look at each.
 */
export function intakeLog(log: ThrottledLog): ThrottledLog {
  const limited = limitRepeats(log);
  const logFor = (fields: object) => (NEVER_LIMITED.some((name) => name in fields) ? log : limited);
  return {
    error: (fields, message) => logFor(fields).error(fields, message),
    warn: (fields, message) => logFor(fields).warn(fields, message),
    debug: limited.debug,
  };
}
