import type { NewDelivery } from "../store/deliveries.ts";
import { applyGroup } from "./apply.ts";
import { createBatcher } from "./batcher.ts";
import { claimGroup } from "./claim.ts";
import type { AttemptOutcome, Claimed, ClaimedEvent } from "./claimed-event.ts";
import type { Intake, IntakeOptions } from "./intake.ts";
import { keysOf } from "./keys.ts";
import { receive } from "./receive.ts";

const MAX_GROUP_BYTES = 4 * 1024 * 1024;
const MAX_GROUP_ITEMS = 128;
// One group of attempts at a time is fastest; the others are for when it is held up, by a lock or a slow disk.
const ATTEMPT_GROUPS_IN_FLIGHT = 4;
const HELD_UP_AFTER_MS = 50;

export function createIntake(options: IntakeOptions): Intake {
  const claims = createBatcher<NewDelivery, Claimed>({
    keysOf: (delivery) => [`${delivery.provider} ${delivery.eventId}`],
    sameKey: "apart",
    bytesOf: (delivery) => delivery.payload.length,
    maxItems: MAX_GROUP_ITEMS,
    maxBytes: MAX_GROUP_BYTES,
    // One at a time: claims are what puts events of one subscription in order.
    maxInFlight: 1,
    overtakeAfterMs: 0,
    run: (group) => claimGroup(intake, group),
  });
  const attempts = createBatcher<ClaimedEvent, AttemptOutcome>({
    keysOf,
    sameKey: "together",
    bytesOf: (work) => work.bytes,
    maxItems: MAX_GROUP_ITEMS,
    maxBytes: MAX_GROUP_BYTES,
    maxInFlight: ATTEMPT_GROUPS_IN_FLIGHT,
    overtakeAfterMs: HELD_UP_AFTER_MS,
    run: (group) => applyGroup(intake, group),
  });
  const intake: Intake = {
    ...options,
    reached: options.reached ?? (() => {}),
    claims,
    attempts,
    receive: (slot, request) => receive(intake, slot, request),
    idle: async () => {
      while (claims.load().items + attempts.load().items > 0) {
        await claims.idle();
        await attempts.idle();
      }
    },
  };
  return intake;
}
