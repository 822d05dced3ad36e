import { withHooksOf } from "./call-hooks.ts";
import type { AttemptOutcome, Claimed, ClaimedEvent } from "./claimed-event.ts";
import { applyGroup } from "./claims/apply.ts";
import { applySingly, applyWaitingForLocks, isOverdue } from "./claims/apply-singly.ts";
import { claimGroup, claimSingle } from "./claims/claim.ts";
import { release } from "./claims/release.ts";
import { findApplied } from "./find-applied.ts";
import { tracedGroup } from "./groups/traced-group.ts";
import type { IncomingEvent, ReceivedOutcome, RepeatOutcome } from "./incoming-event.ts";
import type { Intake, IntakeOptions } from "./intake.ts";
import { createBatcher } from "./queue/batcher.ts";
import { createInProcess } from "./queue/in-process.ts";
import { keysOf } from "./queue/keys.ts";
import { createRecentKeys } from "./queue/recent-keys.ts";
import { receive } from "./receive.ts";
import { receiveGroup } from "./receive-group.ts";

const MAX_GROUP_BYTES = 4 * 1024 * 1024;
const MAX_GROUP_ITEMS = 128;
// Fewer groups are larger: the next starts when the one before commits. The others are for when one is
// stalled.
const MAX_GROUPS_IN_FLIGHT = 4;
const MAX_ATTEMPTS_IN_FLIGHT = 2;
const MAX_LOOK_UPS_IN_FLIGHT = 2;
const STALLED_AFTER_MS = 50;
const RECENT_KEYS = 20_000;

/**
 * How many connections the intake uses at once: for first deliveries, for looking repeats up, for attempts in
 * groups, single ones and those that wait for locks, for claims in groups, single ones and the retry job's, and for
 * releases.
 */
export const INTAKE_CONNECTIONS =
  MAX_GROUPS_IN_FLIGHT + MAX_LOOK_UPS_IN_FLIGHT + 3 * MAX_ATTEMPTS_IN_FLIGHT + 3 + 1;

export function createIntake(options: IntakeOptions): Intake {
  const limits = {
    maxItems: MAX_GROUP_ITEMS,
    maxBytes: MAX_GROUP_BYTES,
    stalledAfterMs: STALLED_AFTER_MS,
  };
  // An event that few redeliveries follow is ingested even if nobody waits any more.
  const isAbandoned = ({ delivery, isAwaited }: IncomingEvent) =>
    !isAwaited() && !options.adapters.of(delivery.format).traits.claimsFirst;
  const abandonedDelivery = (event: IncomingEvent) =>
    isAbandoned(event) ? { outcome: "unavailable" as const } : null;
  const ofDeliveries = { ...limits, bytesOf: ({ delivery }: IncomingEvent) => delivery.payload.length };
  const deliveries = createBatcher<IncomingEvent, ReceivedOutcome>({
    ...ofDeliveries,
    keysOf,
    abandoned: abandonedDelivery,
    maxInFlight: MAX_GROUPS_IN_FLIGHT,
    maxActive: 2,
    run: tracedGroup(options.tracing, "intake group", (group, progress) =>
      receiveGroup(intake, group, progress),
    ),
  });
  const repeats = createBatcher<IncomingEvent, RepeatOutcome>({
    ...ofDeliveries,
    // Nothing is written. Should some be gone, nobody knows in which order they come again.
    keysOf: () => [],
    abandoned: abandonedDelivery,
    maxInFlight: MAX_LOOK_UPS_IN_FLIGHT,
    maxActive: MAX_LOOK_UPS_IN_FLIGHT,
    run: tracedGroup(options.tracing, "intake look-up", (group, { closing }) => {
      closing();
      return findApplied(intake, group);
    }),
  });
  const abandonedClaim = (event: IncomingEvent) => (isAbandoned(event) ? ("unavailable" as const) : null);
  const claims = createBatcher<IncomingEvent, Claimed>({
    ...ofDeliveries,
    // No event is here twice, see `inProcess`.
    keysOf,
    abandoned: abandonedClaim,
    // One at a time: claims put a subscription's events in order.
    maxInFlight: 1,
    maxActive: 1,
    run: tracedGroup(options.tracing, "intake claim", (group) => claimGroup(intake, group)),
  });
  const singleClaims = createBatcher<IncomingEvent, Claimed>({
    ...ofDeliveries,
    // One by one, so that those behind a locked delivery stay behind it; later ones wait for their keys in `claims`.
    keysOf: () => [],
    abandoned: abandonedClaim,
    maxItems: 1,
    maxInFlight: 1,
    maxActive: 1,
    run: tracedGroup(options.tracing, "intake claim", (group) => claimSingle(intake, group)),
  });
  const releases = createBatcher<ClaimedEvent, AttemptOutcome>({
    ...limits,
    keysOf: () => [],
    bytesOf: (event) => event.bytes,
    maxInFlight: 1,
    maxActive: 1,
    run: (group) => release(intake, group),
  });
  const abandonedAttempt = (event: ClaimedEvent): AttemptOutcome | null => {
    if (!isOverdue(options, event)) return null;
    void releases.submit(event);
    return { outcome: "unavailable" };
  };
  const ofAttempts = {
    ...limits,
    keysOf,
    bytesOf: (event: ClaimedEvent) => event.bytes,
    abandoned: abandonedAttempt,
    maxInFlight: MAX_ATTEMPTS_IN_FLIGHT,
    maxActive: 1,
  };
  const attempts = createBatcher<ClaimedEvent, AttemptOutcome>({
    ...ofAttempts,
    run: tracedGroup(options.tracing, "intake apply", (group) => applyGroup(intake, group)),
  });
  const singleAttempts = createBatcher<ClaimedEvent, AttemptOutcome>({
    ...ofAttempts,
    run: tracedGroup(options.tracing, "intake apply", (group, { done }) => applySingly(intake, group, done)),
  });
  const waitingAttempts = createBatcher<ClaimedEvent, AttemptOutcome>({
    ...ofAttempts,
    run: tracedGroup(options.tracing, "intake apply", (group, { done }) =>
      applyWaitingForLocks(intake, group, done),
    ),
  });
  const stages = {
    deliveries,
    repeats,
    claims,
    singleClaims,
    attempts,
    singleAttempts,
    waitingAttempts,
  };
  const intake: Intake = {
    ...options,
    ...stages,
    reached: options.reached ?? (() => {}),
    hooks: options.hooks ?? withHooksOf([]),
    inProcess: createInProcess(),
    recent: createRecentKeys(RECENT_KEYS),
    receive: (slot, request) => receive(intake, slot, request),
    idle: async () => {
      const batchers = [...Object.values(stages), releases];
      while (batchers.some((batcher) => batcher.load().items > 0))
        for (const batcher of batchers) await batcher.idle();
    },
  };
  return intake;
}
