import type { PlanCatalog } from "../domain/plans/plan.ts";
import type { Slot } from "../domain/slot.ts";
import type { Tracing } from "../domain/tracing.ts";
import type { Adapters, SignatureProblem, SignedRequest, WireFormat } from "../providers/adapter.ts";
import type { Database } from "../store/database.ts";
import type { WithHooks } from "./call-hooks.ts";
import type { AttemptOutcome, Claimed, ClaimedEvent } from "./claimed-event.ts";
import type { IncomingEvent, ReceivedOutcome, RepeatOutcome } from "./incoming-event.ts";
import type { Batcher } from "./queue/batcher.ts";
import type { InProcess } from "./queue/in-process.ts";
import type { RecentKeys } from "./queue/recent-keys.ts";

export type IntakeOptions = {
  database: Database;
  plans: PlanCatalog;
  slots: Record<Slot, { format: WireFormat; secrets: readonly string[] }>;
  adapters: Adapters;
  leaseSeconds: number;
  toleranceSeconds: number;
  log: IntakeLog;
  tracing?: Tracing | null;
  /** Called in the transactions that change subscriptions. */
  hooks?: WithHooks;
  /** Has subscriptions compared with their provider soon; must not throw. By default nothing is compared. */
  requestComparison?: (slot: Slot, subscriptionIds: readonly string[]) => void;
  /** Called at each step where a crash matters; tests crash there. */
  reached?: (milestone: Milestone) => void | Promise<void>;
};

export type Milestone = "claimed" | "effects written" | "committed" | "retry claimed";

type IntakeLog = {
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
};

/** The outcome of a delivery, for its HTTP surface to translate. */
export type ReceiveResult =
  | { outcome: "applied" | "ignored" | "duplicate" }
  | { outcome: "unavailable"; cause: "overloaded" | "too slow" | "database" }
  /** The reason is in the delivery log: it may quote the payload, which belongs nowhere else. */
  | { outcome: "failed"; deliveryId: string }
  /** Failed durably, but acknowledged: this provider disables endpoints that return errors. */
  | { outcome: "deferred"; deliveryId: string }
  | { outcome: "refused"; problem: SignatureProblem | "no secret configured" }
  | { outcome: "invalid"; problem: string };

/** Dependencies shared by everything that processes events in this process. */
export type Intake = IntakeOptions & {
  reached: (milestone: Milestone) => void | Promise<void>;
  hooks: WithHooks;
  inProcess: InProcess;
  /** Events that have succeeded, by `keyOf`. */
  recent: RecentKeys;
  deliveries: Batcher<IncomingEvent, ReceivedOutcome>;
  /** Events that are in `recent`. */
  repeats: Batcher<IncomingEvent, RepeatOutcome>;
  claims: Batcher<IncomingEvent, Claimed>;
  /** Events that wait for another transaction, which has locked their delivery. */
  singleClaims: Batcher<IncomingEvent, Claimed>;
  attempts: Batcher<ClaimedEvent, AttemptOutcome>;
  /** Claimed events that wait for a lock, or of a group of which one cannot be applied. */
  singleAttempts: Batcher<ClaimedEvent, AttemptOutcome>;
  /** Those whose lock has not been released at once. */
  waitingAttempts: Batcher<ClaimedEvent, AttemptOutcome>;
  receive(slot: Slot, request: SignedRequest): Promise<ReceiveResult>;
  idle(): Promise<void>;
};
