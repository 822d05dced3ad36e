import { reclaimOne, reclaimSuccessful, statusOf } from "../store/reclaims.ts";
import type { AttemptOutcome } from "./claimed-event.ts";
import type { Intake } from "./intake.ts";
import { attempt } from "./retry.ts";

export type ReplayRefusal = "not found" | "lease running" | "successful" | "payload dropped";

export type ReplayResult = AttemptOutcome | { outcome: "refused"; because: ReplayRefusal };

/**
 * Processes a delivery again on the operator's request: a new attempt, always recorded. A successful one stays
 * successful, and is replayed only with `force`.
 */
export async function replay(intake: Intake, id: string, options: { force: boolean }): Promise<ReplayResult> {
  const claimed =
    (await reclaimOne(intake.database, id, { leaseSeconds: intake.leaseSeconds, source: "replay" })) ??
    (options.force ? await reclaimSuccessful(intake.database, id) : null);
  if (claimed) return attempt(intake, claimed, "replay");

  const found = await statusOf(intake.database, id);
  if (found === null) return { outcome: "refused", because: "not found" };
  const { status, hasPayload } = found;
  if (!hasPayload) return { outcome: "refused", because: "payload dropped" };
  return { outcome: "refused", because: status === "successful" ? "successful" : "lease running" };
}
