import type { PlanCatalog } from "../domain/plan.ts";
import type { Slot } from "../domain/slot.ts";
import type { Adapter, SignatureProblem, SignedRequest, WireFormat } from "../providers/adapter.ts";
import type { Database } from "../store/database.ts";
import type { NewDelivery } from "../store/deliveries.ts";
import { type AttemptOutcome, applyGroup, type Work } from "./apply.ts";
import { type Claimed, claimGroup } from "./claim.ts";
import { createGroups, type Groups } from "./groups.ts";
import { keysOf } from "./keys.ts";
import { receive } from "./receive.ts";

type IntakeOptions = {
  database: Database;
  plans: PlanCatalog;
  slots: Record<Slot, { format: WireFormat; secrets: readonly string[] }>;
  adapters: Record<WireFormat, Adapter>;
  leaseSeconds: number;
  toleranceSeconds: number;
  log: IntakeLog;
  /** Called at each step that a crash could fall into; tests crash there. */
  reached?: (milestone: Milestone) => void | Promise<void>;
};

export type Milestone = "claimed" | "effects written" | "committed" | "retry claimed";

type IntakeLog = {
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
};

/** What became of a delivery, for the door that it came through to translate. */
export type Reception =
  | { outcome: "applied" | "ignored" | "duplicate" | "unavailable" }
  /** The reason is in the log of deliveries: it may quote the payload, which does not belong anywhere else. */
  | { outcome: "failed"; deliveryId: string }
  /** Failed durably, but acknowledged: this format's provider switches off endpoints that answer errors. */
  | { outcome: "deferred"; deliveryId: string }
  | { outcome: "refused"; problem: SignatureProblem | "no secret configured" }
  | { outcome: "invalid"; problem: string };

/** The desks that a delivery passes, shared by everything that processes events in this process. */
export type Intake = IntakeOptions & {
  reached: (milestone: Milestone) => void | Promise<void>;
  claims: Groups<NewDelivery, Claimed>;
  attempts: Groups<Work, AttemptOutcome>;
  receive(slot: Slot, request: SignedRequest): Promise<Reception>;
  idle(): Promise<void>;
};

const MAX_GROUP_BYTES = 4 * 1024 * 1024;
const MAX_GROUP_ITEMS = 128;
// Enough to keep the database busy while one group waits for the disk, few enough that groups stay large.
const ATTEMPT_GROUPS_IN_FLIGHT = 2;

export function createIntake(options: IntakeOptions): Intake {
  const claims = createGroups<NewDelivery, Claimed>({
    keysOf: (delivery) => [`${delivery.provider} ${delivery.eventId}`],
    sameKey: "apart",
    bytesOf: (delivery) => delivery.payload.length,
    maxItems: MAX_GROUP_ITEMS,
    maxBytes: MAX_GROUP_BYTES,
    // One at a time: claims are what puts events of one subscription in order.
    maxInFlight: 1,
    run: (group) => claimGroup(intake, group),
  });
  const attempts = createGroups<Work, AttemptOutcome>({
    keysOf,
    sameKey: "together",
    bytesOf: () => 0,
    maxItems: MAX_GROUP_ITEMS,
    maxBytes: MAX_GROUP_BYTES,
    maxInFlight: ATTEMPT_GROUPS_IN_FLIGHT,
    run: (group) => applyGroup(intake, group),
  });
  const intake: Intake = {
    ...options,
    reached: options.reached ?? (() => {}),
    claims,
    attempts,
    receive: (slot, request) => receive(intake, slot, request),
    idle: async () => {
      await claims.idle();
      await attempts.idle();
    },
  };
  return intake;
}
