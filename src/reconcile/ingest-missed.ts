import type { ListedEvent, PaymentApi } from "../domain/providers/payment-api.ts";
import type { Slot } from "../domain/slot.ts";
import type { Intake } from "../intake/intake.ts";
import { type IdentifiedEvent, identify, ingest } from "../intake/receive.ts";
import { DatabaseUnavailable } from "../store/database.ts";
import { keyOf } from "../store/deliveries/delivery-key.ts";
import { findKnownDeliveries } from "../store/deliveries/first-deliveries.ts";
import { inBatches } from "./in-batches.ts";

export type MissedReport = {
  /** How many events the provider listed. */
  listed: number;
  /** Events with effects that were missing from the log. */
  missed: number;
  applied: number;
  ignored: number;
  /** Logged like any other failure, and retried. */
  failed: number;
};

export type IngestMissedOptions = {
  since: Date;
  /** Whether to leave an event, by its time (microseconds), to its webhook; by default never. */
  isTooYoung?: (occurredAtMicros: number | null) => boolean;
  /** Reports missed events without ingesting them. */
  dryRun: boolean;
  isStopping: () => boolean;
};

/** After so many events the database counts as unavailable. */
const MAX_UNAVAILABLE_IN_A_ROW = 20;

/**
 * Ingests events that a provider lists and the log lacks, oldest first, like deliveries: each is claimed
 * once, even by concurrent processes. An interrupted pass is continued by the next one.
 * @throws PaymentApiProblem; DatabaseUnavailable, also if only some of them could not be ingested
 */
export async function ingestMissed(
  intake: Intake,
  slot: Slot,
  listEvents: NonNullable<PaymentApi["listEvents"]>,
  { since, isTooYoung = () => false, dryRun, isStopping }: IngestMissedOptions,
): Promise<MissedReport> {
  const report: MissedReport = { listed: 0, missed: 0, applied: 0, ignored: 0, failed: 0 };
  const withEffects = async function* () {
    for await (const listed of listEvents(since)) {
      if (isStopping()) return;
      report.listed += 1;
      const event = identifyListed(intake, slot, listed);
      if (event !== null && !isTooYoung(occurredAt(event))) yield event;
    }
  };
  let unavailable = 0;
  let inARow = 0;
  for await (const events of inBatches(withEffects())) {
    const stored = await findKnownDeliveries(intake.database, events.map(deliveryOf));
    const missed = events.filter((event) => !stored.has(keyOf(deliveryOf(event))));
    report.missed += missed.length;
    if (dryRun || missed.length === 0) continue;
    const notIngested = await ingestAll(intake, missed, report);
    unavailable += notIngested;
    // A lock may concern a few events alone; a database that stores none should not be burdened with more.
    inARow = notIngested === missed.length ? inARow + notIngested : 0;
    if (inARow >= MAX_UNAVAILABLE_IN_A_ROW) break;
  }
  if (unavailable > 0) {
    const counts = `${unavailable} of ${report.missed} missed events could not be stored in time`;
    throw new DatabaseUnavailable(`${counts}; the next run goes on with them`);
  }
  return report;
}

function deliveryOf({ slot, identity }: IdentifiedEvent): { provider: Slot; eventId: string } {
  return { provider: slot, eventId: identity.eventId };
}

function occurredAt({ reading }: IdentifiedEvent): number | null {
  return "event" in reading ? reading.event.occurredAtMicros : null;
}

/** `null`: it would have no effect. Providers list far more events than an endpoint subscribes to. */
function identifyListed(
  intake: Intake,
  slot: Slot,
  { eventId, rawBody, headers }: ListedEvent,
): IdentifiedEvent | null {
  const adapter = intake.adapters.of(intake.slots[slot].format);
  const header = (name: string) => headers[name];
  const event = identify(intake, adapter, slot, { header, rawBody });
  if ("outcome" in event) {
    intake.log.warn({ slot, eventId, problem: event.problem }, "an event that a provider lists is unusable");
    return null;
  }
  return "event" in event.reading && event.reading.event.kind === "ignored" ? null : event;
}

/** Returns how many have to be tried again: the database was unavailable or too slow for them. */
async function ingestAll(
  intake: Intake,
  missed: readonly IdentifiedEvent[],
  report: MissedReport,
): Promise<number> {
  let unavailable = 0;
  // Submitted together like deliveries: they are still claimed and applied in this order.
  const results = await Promise.all(missed.map((event) => ingest(intake, event, "reconcile").result));
  for (const { outcome } of results) {
    switch (outcome) {
      case "applied":
      case "ignored":
        report[outcome] += 1;
        break;
      case "failed":
      case "deferred":
        report.failed += 1;
        break;
      case "unavailable":
        unavailable += 1;
        break;
      case "duplicate":
      case "refused":
      case "invalid":
        break;
      default:
        outcome satisfies never;
    }
  }
  return unavailable;
}
