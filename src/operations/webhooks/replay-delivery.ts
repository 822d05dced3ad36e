import { z } from "zod";
import { FAILURE_REASONS, failureSentence } from "../../domain/deliveries/failures.ts";
import { notFound, refuse } from "../../domain/refusals/refusal.ts";
import { type ReplayRefusal, type ReplayResult, replay } from "../../intake/claims/replay.ts";
import type { Intake } from "../../intake/intake.ts";
import { findLoggedDelivery } from "../../store/deliveries/delivery-detail.ts";
import { defineOperation } from "../operation.ts";
import { Delivery, DeliveryId } from "./delivery-view.ts";

/** The delivery as it is now, and the outcome of this attempt. */
const Replay = Delivery.extend({
  outcome: z.enum(["applied", "ignored", "failed"]).describe("How the replay ended."),
  error: z.string().nullable().describe("Why the replay failed, as one English sentence."),
  reason: z.enum(FAILURE_REASONS).nullable().describe("The same as a stable identifier."),
}).meta({ id: "Replay", description: "A delivery after its replay, with the outcome." });

type Replay = z.output<typeof Replay>;

/**
 * Refuses with `conflict` while it is being processed, or when it was successful and `force` is not set; with
 * `unavailable` when the outcome is not known.
 */
export const replayDelivery = defineOperation({
  name: "webhooks.replay",
  summary: "Processes a delivery again, as a new attempt",
  access: "admin",
  limit: "admin",
  input: z.strictObject({
    id: DeliveryId,
    force: z
      .boolean()
      .default(false)
      .describe("Also replay a successful delivery; it stays successful even if the replay fails."),
  }),
  reasons: [
    "not_found",
    "delivery_taken_over",
    "delivery_in_progress",
    "delivery_already_successful",
    "payload_dropped",
    "replay_outcome_unknown",
  ],
  output: Replay,
  run: async (deps: { intake: Intake }, caller, { id, force }) => {
    const attempt = attemptOf(id, await replay(deps.intake, id, { force, by: caller }));
    const { payload: _, ...logged } =
      (await findLoggedDelivery(deps.intake.database, id)) ?? notFound("delivery");
    return { ...logged, ...attempt };
  },
});

function attemptOf(id: string, result: ReplayResult): Pick<Replay, "outcome" | "error" | "reason"> {
  switch (result.outcome) {
    case "applied":
    case "ignored":
      return { outcome: result.outcome, error: null, reason: null };
    case "failed":
      return {
        outcome: "failed",
        error: failureSentence(result.failure),
        reason: result.failure.reason,
      };
    case "lost":
      return refuse({ reason: "delivery_taken_over", params: { id } });
    case "unavailable":
      return refuse({ reason: "replay_outcome_unknown", params: { id } });
    case "refused":
      return refuseReplay(id, result.because);
    default:
      return result satisfies never;
  }
}

function refuseReplay(id: string, because: ReplayRefusal): never {
  switch (because) {
    case "not found":
      return notFound("delivery");
    case "lease running":
      return refuse({ reason: "delivery_in_progress", params: { id } });
    case "successful":
      return refuse({ reason: "delivery_already_successful", params: { id }, field: "force" });
    case "payload dropped":
      return refuse({ reason: "payload_dropped", params: { id } });
    default:
      return because satisfies never;
  }
}
