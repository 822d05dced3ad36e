import { z } from "zod";
import { refuse } from "../../domain/refusal.ts";
import type { Intake } from "../../intake/intake.ts";
import { type ReplayResult, replay } from "../../intake/replay.ts";
import { findLoggedDelivery } from "../../store/delivery-log.ts";
import { type Delivery, DeliveryId, refuseUnknown, toDelivery } from "./delivery.ts";

export const ReplayDelivery = z.strictObject({
  id: DeliveryId,
  /** Also when it was successful; it stays so whatever comes of the replay. */
  force: z.boolean().default(false),
});

/** The delivery as it is now, and what came of this attempt. */
export type Replay = Delivery & { outcome: "applied" | "ignored" | "failed"; reason: string | null };

/**
 * Processes a delivery again, as a new attempt of its own.
 * @throws Refusal `not_found`; `conflict` while it is being processed, or when it was successful and `force` is not set;
 *   `unavailable` when the outcome is not known
 */
export async function replayDelivery(
  deps: { intake: Intake },
  { id, force }: z.output<typeof ReplayDelivery>,
): Promise<Replay> {
  const attempt = attemptOf(id, await replay(deps.intake, id, { force }));
  const logged = (await findLoggedDelivery(deps.intake.database, id)) ?? refuseUnknown(id);
  return { ...toDelivery(logged), ...attempt };
}

function attemptOf(id: string, result: ReplayResult): Pick<Replay, "outcome" | "reason"> {
  switch (result.outcome) {
    case "applied":
    case "ignored":
      return { outcome: result.outcome, reason: null };
    case "failed":
      return { outcome: "failed", reason: result.reason };
    case "lost":
      return refuse("conflict", `delivery ${id} was taken over by another attempt, which decides on it`);
    case "unavailable":
      return refuse(
        "unavailable",
        `what came of the replay of delivery ${id} is not known: look at it again`,
      );
    case "refused":
      return refuseReplay(id, result.because);
    default:
      return result satisfies never;
  }
}

function refuseReplay(id: string, because: "not found" | "lease running" | "successful"): never {
  switch (because) {
    case "not found":
      return refuseUnknown(id);
    case "lease running":
      return refuse("conflict", `delivery ${id} is being processed: try again when its lease has run out`);
    case "successful":
      return refuse("conflict", `force: delivery ${id} was successful already and is replayed only by force`);
    default:
      return because satisfies never;
  }
}
