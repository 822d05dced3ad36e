import type { AttemptSource } from "../../domain/deliveries/delivery.ts";
import type { FailureReason } from "../../domain/deliveries/failures.ts";
import type { Changes } from "../../domain/subscriptions/changes.ts";
import type { Queryable } from "../database.ts";
import { COLUMNS, type LoggedDelivery } from "./delivery-log.ts";

export type LoggedAttempt = {
  attempt: number;
  source: AttemptSource;
  outcome: "successful" | "failed";
  /** One English sentence. */
  error: string | null;
  /** `null`: it succeeded, or was stored by a release without reasons. */
  reason: FailureReason | null;
  params: Record<string, unknown> | null;
  startedAt: Date;
  durationMs: number;
  /** Which subscription it has changed, and how; `null`: none. */
  subscriptionId: string | null;
  changes: Changes | null;
};

const FIND = {
  name: "find_delivery",
  text: `select ${COLUMNS}, d.payload::text as payload from webhook_delivery d where d.id = $1::bigint`,
};

/** `payload` is the text as delivered; `null` when it has been pruned or redacted. */
export async function findLoggedDelivery(
  database: Queryable,
  id: string,
): Promise<(LoggedDelivery & { payload: string | null }) | null> {
  const [row] = await database.run<LoggedDelivery & { payload: string | null }>(FIND, [id]);
  return row ?? null;
}

const ATTEMPTS = {
  name: "attempts_of_delivery",
  text: `
select row_number() over (order by claim_no)::int as attempt, source, outcome, reason as error, reason_id as reason,
  reason_params as params, started_at as "startedAt", duration_ms as "durationMs",
  subscription_id as "subscriptionId", changes
from webhook_attempts where delivery_id = $1::bigint order by claim_no`,
};

/** The outcome of each finished attempt, oldest first. */
export async function attemptsOf(database: Queryable, id: string): Promise<LoggedAttempt[]> {
  return database.run<LoggedAttempt>(ATTEMPTS, [id]);
}
