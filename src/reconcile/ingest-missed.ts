import type { ListedEvent, PaymentApi } from "../domain/payment-api.ts";
import type { Slot } from "../domain/slot.ts";
import type { Intake } from "../intake/intake.ts";
import { type Identified, identify, ingest } from "../intake/receive.ts";
import { DatabaseUnavailable } from "../store/database.ts";
import { knownEvents } from "../store/delivery-log.ts";

export type MissedReport = {
  /** How many events the provider has listed. */
  listed: number;
  /** Those with effects that the log lacked. */
  missed: number;
  applied: number;
  ignored: number;
  /** In the log like any other failure, and retried. */
  failed: number;
};

export type IngestMissedOptions = {
  since: Date;
  /** Leaves an event to its webhook, by the time when it happened (microseconds); by default none. */
  isTooYoung?: (occurredAtMicros: number | null) => boolean;
  /** Reports what was missed, and takes in nothing. */
  dryRun: boolean;
  isStopping: () => boolean;
};

/** How many bodies are held in memory at once. */
const BATCH_SIZE = 100;

/**
 * Ingests events that a provider lists and the log lacks, oldest first, on the same path as deliveries: each is claimed
 * once, whoever else is at it. A pass that is cut short is continued by the next one.
 * @throws PaymentApiProblem, DatabaseUnavailable
 */
export async function ingestMissed(
  intake: Intake,
  slot: Slot,
  listEvents: NonNullable<PaymentApi["listEvents"]>,
  { since, isTooYoung = () => false, dryRun, isStopping }: IngestMissedOptions,
): Promise<MissedReport> {
  const report: MissedReport = { listed: 0, missed: 0, applied: 0, ignored: 0, failed: 0 };
  let batch: Identified[] = [];
  const flush = async () => {
    const given = batch;
    batch = [];
    if (given.length === 0) return;
    const known = await knownEvents(
      intake.database,
      slot,
      given.map(({ identity }) => identity.eventId),
    );
    const missed = given.filter(({ identity }) => !known.has(identity.eventId));
    report.missed += missed.length;
    if (!dryRun) await ingestAll(intake, missed, report);
  };
  for await (const listed of listEvents(since)) {
    if (isStopping()) break;
    report.listed += 1;
    const event = identifyListed(intake, slot, listed);
    if (event !== null && !isTooYoung(occurredAt(event))) batch.push(event);
    if (batch.length >= BATCH_SIZE) await flush();
  }
  await flush();
  return report;
}

function occurredAt({ reading }: Identified): number | null {
  return "event" in reading ? reading.event.occurredAtMicros : null;
}

/** `null`: it would have no effect. Providers list far more than anybody has asked them to deliver. */
function identifyListed(
  intake: Intake,
  slot: Slot,
  { eventId, rawBody, headers }: ListedEvent,
): Identified | null {
  const adapter = intake.adapters.of(intake.slots[slot].format);
  const header = (name: string) => headers[name];
  const event = identify(adapter, slot, { header, rawBody });
  if ("outcome" in event) {
    intake.log.warn({ slot, eventId, problem: event.problem }, "an event that a provider lists is unusable");
    return null;
  }
  return "event" in event.reading && event.reading.event.kind === "ignored" ? null : event;
}

async function ingestAll(intake: Intake, missed: readonly Identified[], report: MissedReport): Promise<void> {
  // Together, as deliveries come: they are claimed and applied in this order all the same.
  const receptions = await Promise.all(missed.map((event) => ingest(intake, event, "reconcile").result));
  for (const { outcome } of receptions) {
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
        throw new DatabaseUnavailable("the outcome of missed events is unknown: run it again");
      case "duplicate":
      case "refused":
      case "invalid":
        break;
      default:
        outcome satisfies never;
    }
  }
}
