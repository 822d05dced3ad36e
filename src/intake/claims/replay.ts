import type { Caller } from "../../domain/callers/caller.ts";
import { withAudit } from "../../store/audit/with-audit.ts";
import { findDeliveryStatus, reclaimOne, reclaimSuccessful } from "../../store/deliveries/reclaims.ts";
import type { AttemptOutcome } from "../claimed-event.ts";
import type { Intake } from "../intake.ts";
import { attempt } from "./retry.ts";

export type ReplayRefusal = "not found" | "lease running" | "successful" | "payload dropped";

export type ReplayResult = AttemptOutcome | { outcome: "refused"; because: ReplayRefusal };

/**
 * Processes a delivery again on the operator's request: a new attempt, always recorded. A successful one
 * stays successful, and is replayed only with `force`. The audit entry is written with the claim: what comes
 * of the attempt is in the log of attempts, also after a crash.
 */
export async function replay(
  intake: Intake,
  id: string,
  { force, by }: { force: boolean; by: Caller },
): Promise<ReplayResult> {
  const claimed = await withAudit(
    intake.database,
    by,
    async (transaction) =>
      (await reclaimOne(transaction, id, intake)) ??
      (force ? await reclaimSuccessful(transaction, id) : null),
    (claimed) =>
      claimed && { action: "delivery.replayed", target: { type: "delivery", id }, details: { force } },
  );
  if (claimed) return attempt(intake, claimed, "replay");

  const delivery = await findDeliveryStatus(intake.database, id);
  if (delivery === null) return { outcome: "refused", because: "not found" };
  const { status, hasPayload } = delivery;
  if (!hasPayload) return { outcome: "refused", because: "payload dropped" };
  return { outcome: "refused", because: status === "successful" ? "successful" : "lease running" };
}
