import { setTimeout as sleep } from "node:timers/promises";
import type { Operator } from "../domain/callers/caller.ts";
import { noProviderFor } from "../domain/providers/no-provider.ts";
import type { PaymentApi } from "../domain/providers/payment-api.ts";
import { concernsWholeSlot, isPaymentApiProblem } from "../domain/providers/payment-api-problem.ts";
import { notFound } from "../domain/refusals/refusal.ts";
import { unclearStateSentence } from "../domain/refusals/unclear-state.ts";
import type { Slot } from "../domain/slot.ts";
import type { Changes } from "../domain/subscriptions/changes.ts";
import { isUuid } from "../domain/uuid.ts";
import type { Intake } from "../intake/intake.ts";
import {
  type Extent,
  eachReconcilable,
  findReconcilable,
  findReconcilableByProviderId,
  type ReconcilableSubscription,
} from "../store/reconciliation/reconciliations.ts";
import { compare } from "./compare.ts";
import { type ChangedReport, compareChanged } from "./compare-changed.ts";
import type { Comparison } from "./comparison.ts";
import { ingestMissed, type MissedReport } from "./ingest-missed.ts";
import { notCorrected } from "./not-corrected.ts";
import type { ReconcileTools } from "./reconcile-tools.ts";

export type ReconcileOptions = {
  slots: readonly Slot[];
  /** One subscription, by our id or the provider's; `null`: all within `extent`. */
  subscription: string | null;
  extent: Extent;
  /** How far back to look for missed events; `null`: not at all. */
  since: Date | null;
  dryRun: boolean;
  by: Operator | "server";
  isStopping: () => boolean;
};

export type ReconcileReport = {
  dryRun: boolean;
  slots: SlotReport[];
  compared: number;
  /** Subscriptions that differed from their provider. */
  corrected: Corrected[];
  /** Subscriptions that could not be compared, left unchanged. */
  left: Left[];
};

export type SlotReport = {
  slot: Slot;
  /** `null`: not searched, or the provider does not list its events. */
  missed: MissedReport | null;
  /**
   * Where events may be missing from the provider's list: its subscriptions that changed; `null`: not
   * compared.
   */
  changed: ChangedReport | null;
  /** Why the slot is incomplete, in one sentence for the operator; else `null`. */
  problem: string | null;
};

type Named = { subscriptionId: string; slot: Slot; providerSubscriptionId: string | null };
type Corrected = Named & { changes: Changes };
/** `reason`: a sentence for the operator. */
type Left = Named & { reason: string };
type Compared = Extract<Comparison, { outcome: "compared" }>;

/**
 * The operator's and the nightly run: ingests missed events, then compares. In this order, as missed events
 * may leave subscriptions out of order. An unreachable provider affects its own slot only.
 * @throws Refusal, DatabaseUnavailable
 */
export async function reconcile(tools: ReconcileTools, options: ReconcileOptions): Promise<ReconcileReport> {
  const run = new Run(tools, options);
  if (options.subscription === null) {
    for (const slot of options.slots) await run.ingestMissedEvents(slot);
  }
  for await (const reconcilable of selected(tools.intake, options)) {
    if (options.isStopping()) break;
    await run.compare(reconcilable);
  }
  return run.report;
}

async function* selected(
  { database }: Intake,
  { subscription, slots, extent }: ReconcileOptions,
): AsyncGenerator<ReconcilableSubscription> {
  if (subscription === null) {
    yield* eachReconcilable(database, extent, slots);
    return;
  }
  const byId = isUuid(subscription) ? await findReconcilable(database, subscription) : null;
  const reconcilable = byId ? [byId] : await findReconcilableByProviderId(database, subscription, slots);
  if (reconcilable.length === 0) notFound("subscription");
  yield* reconcilable;
}

type ListEvents = NonNullable<PaymentApi["listEvents"]>;

/** How long and how often to wait for an exhausted rate limit. */
const MAX_WAIT_MS = 120_000;
const MAX_WAITS = 5;
const SHORTEST_LOOK_BACK_MS = 60 * 60 * 1000;
/** How often a wait looks whether the server is stopping. */
const STOPPING_CHECK_MS = 500;

class Run {
  readonly report: ReconcileReport;
  readonly #tools: ReconcileTools;
  readonly #options: ReconcileOptions;
  readonly #abandoned = new Set<Slot>();

  constructor(tools: ReconcileTools, options: ReconcileOptions) {
    this.#tools = tools;
    this.#options = options;
    this.report = { dryRun: options.dryRun, slots: [], compared: 0, corrected: [], left: [] };
  }

  async ingestMissedEvents(slot: Slot): Promise<void> {
    const { since, dryRun, isStopping } = this.#options;
    const slotReport = this.#reportOf(slot);
    const api = this.#tools.payments[slot];
    if (since === null || !api || isStopping()) return;
    const { listEvents, traits } = api;
    if (listEvents)
      slotReport.missed = await this.#withRetries(slotReport, () =>
        this.#ingestSince(slot, listEvents, since),
      );
    if (this.#abandoned.has(slot) || (listEvents && !traits.losesEventsWhileDisabled)) return;
    slotReport.changed = await this.#withRetries(slotReport, () =>
      compareChanged(this.#tools.intake, slot, api, { since, dryRun, by: this.#options.by, isStopping }),
    );
  }

  /**
   * A provider that lists only a limited number of events is asked for a shorter period: better the latest
   * than none.
   */
  async #ingestSince(slot: Slot, listEvents: ListEvents, since: Date): Promise<MissedReport> {
    const { dryRun, isStopping } = this.#options;
    for (let lookBackMs = Date.now() - since.getTime(); ; lookBackMs /= 2) {
      try {
        const from = new Date(Date.now() - lookBackMs);
        return await ingestMissed(this.#tools.intake, slot, listEvents, { since: from, dryRun, isStopping });
      } catch (error) {
        const isTooMuch = isPaymentApiProblem(error) && error.failure === "rejected";
        if (!isTooMuch || lookBackMs < SHORTEST_LOOK_BACK_MS) throw error;
      }
    }
  }

  async compare(reconcilable: ReconcilableSubscription): Promise<void> {
    const { id: subscriptionId, provider: slot, providerSubscriptionId } = reconcilable;
    const slotReport = this.#reportOf(slot);
    const ids = { subscriptionId, slot, providerSubscriptionId };
    const api = this.#tools.payments[slot];
    if (!api) this.report.left.push({ ...ids, reason: noProviderFor(slot) });
    if (!api || this.#abandoned.has(slot)) return;
    const comparison = await this.#withRetries(slotReport, () => this.#compare(api, reconcilable));
    if (comparison === null) return;
    this.report.compared += 1;
    if (comparison.outcome === "left") this.report.left.push({ ...ids, reason: comparison.reason });
    else if (comparison.changes) this.report.corrected.push({ ...ids, changes: comparison.changes });
  }

  async #compare(
    api: PaymentApi,
    reconcilable: ReconcilableSubscription,
  ): Promise<Compared | { outcome: "left"; reason: string }> {
    try {
      const comparison = await compare(this.#tools.intake, api, reconcilable, {
        by: this.#options.by,
        audit: "changes",
        dryRun: this.#options.dryRun,
        notify: true,
      });
      if (comparison.outcome === "compared") return comparison;
      return { outcome: "left", reason: unclearStateSentence(comparison.because) };
    } catch (error) {
      const reason = notCorrected(this.#tools.intake, reconcilable, error);
      return { outcome: "left", reason };
    }
  }

  /** Returns whether it has waited so long: not when the server is stopping. */
  async #waitsUnlessStopping(ms: number): Promise<boolean> {
    const endsAtMs = performance.now() + ms;
    for (;;) {
      if (this.#options.isStopping()) return false;
      const leftMs = endsAtMs - performance.now();
      if (leftMs <= 0) return true;
      await sleep(Math.min(leftMs, STOPPING_CHECK_MS));
    }
  }

  #reportOf(slot: Slot): SlotReport {
    const existing = this.report.slots.find((report) => report.slot === slot);
    if (existing) return existing;
    const isConfigured = this.#tools.payments[slot] !== null;
    const problem = isConfigured ? null : noProviderFor(slot);
    const added: SlotReport = { slot, missed: null, changed: null, problem };
    this.report.slots.push(added);
    return added;
  }

  async #withRetries<Result>(slotReport: SlotReport, call: () => Promise<Result>): Promise<Result | null> {
    for (let waits = 0; ; waits += 1) {
      try {
        return await call();
      } catch (error) {
        if (!isPaymentApiProblem(error)) throw error;
        const { retryAfterMs } = error;
        const isPaced = retryAfterMs !== null && retryAfterMs <= MAX_WAIT_MS && waits < MAX_WAITS;
        if (isPaced && (await this.#waitsUnlessStopping(retryAfterMs))) continue;
        if (concernsWholeSlot(error)) this.#abandoned.add(slotReport.slot);
        slotReport.problem = `${error.failure}: ${error.message}`;
        return null;
      }
    }
  }
}

/** The default period to search for missed events. */
export const LOOK_BACK_DAYS = 7;
