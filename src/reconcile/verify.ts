import { OPERATOR } from "../domain/caller.ts";
import { isPaymentApiProblem, type PaymentApi } from "../domain/payment-api.ts";
import type { PaymentEvent } from "../domain/payment-event.ts";
import type { Slot } from "../domain/slot.ts";
import type { Subscription } from "../domain/subscription.ts";
import { unclearStateSentence } from "../domain/unclear-state.ts";
import { findReconcilable } from "../store/reconciliations.ts";
import { lastEventIds } from "../store/subscription-history.ts";
import { findUserStates } from "../store/users.ts";
import {
  countVerifiable,
  eachVerifiable,
  findByProviderIds,
  sampleVerifiable,
} from "../store/verification.ts";
import { countPayments } from "../store/verify-payments.ts";
import { adopt } from "./adopt.ts";
import { compare } from "./compare.ts";
import { forEachConcurrently } from "./for-each-concurrently.ts";
import { inBatches } from "./in-batches.ts";
import { type FieldDrift, subscriptionDrift } from "./subscription-drift.ts";
import type { Drift, Verification, VerifyOptions, VerifyReport, VerifyTools } from "./verification.ts";
import { verifyPayments, verifyPaymentsOf } from "./verify-payments.ts";

/**
 * Compares subscriptions and payments with their providers: through the provider's lists where all are checked, one by
 * one for a sample and for what a list lacks. Takes no locks; with `repair`, differences are compared again under lock
 * and corrected.
 * @throws DatabaseUnavailable
 */
export async function verify(tools: VerifyTools, options: VerifyOptions): Promise<VerifyReport> {
  const unconfigured = options.slots.filter((slot) => tools.payments[slot] === null);
  const report: VerifyReport = { checked: 0, drift: [], repaired: 0, failed: [], unconfigured };
  const slots = options.slots.filter((slot) => tools.payments[slot] !== null);
  const { database } = tools.intake;
  const counts = await Promise.all(
    slots.map(async (slot) => {
      const [subscriptions, payments] = await Promise.all([
        countVerifiable(database, slot),
        countPayments(database, slot),
      ]);
      if (options.sample === null || options.sample >= subscriptions) return subscriptions + payments;
      return options.sample + Math.round((payments * options.sample) / subscriptions);
    }),
  );
  const total = counts.reduce((sum, count) => sum + count, 0);
  const run = new Run(tools, options, report, total);
  await Promise.all(slots.map((slot) => run.slot(slot, tools.payments[slot] as PaymentApi)));
  return report;
}

class Run implements Verification {
  readonly tools: VerifyTools;
  readonly options: VerifyOptions;
  readonly #report: VerifyReport;
  readonly #total: number;

  constructor(tools: VerifyTools, options: VerifyOptions, report: VerifyReport, total: number) {
    this.tools = tools;
    this.options = options;
    this.#report = report;
    this.#total = total;
  }

  async slot(slot: Slot, api: PaymentApi): Promise<void> {
    try {
      const { database } = this.tools.intake;
      if (this.options.sample !== null) {
        const sample = await sampleVerifiable(database, slot, this.options.sample);
        await this.#fetchEach(slot, api, sample);
        await verifyPaymentsOf(this, slot, api, sample);
        return;
      }
      const listed = await this.#checkListed(slot, api);
      await this.#fetchEach(slot, api, unlisted(eachVerifiable(database, slot), listed));
      await verifyPayments(this, slot, api);
    } catch (error) {
      if (!isPaymentApiProblem(error)) throw error;
      this.#report.failed.push({ slot, providerId: null, reason: error.message });
    }
  }

  /** Returns all provider ids in the list. */
  async #checkListed(slot: Slot, api: PaymentApi): Promise<ReadonlySet<string>> {
    const listed = new Set<string>();
    for await (const batch of inBatches(api.listSubscriptions(null))) {
      const states = batch.filter(({ providerSubscriptionId }) => providerSubscriptionId !== null);
      for (const { providerSubscriptionId } of states) listed.add(providerSubscriptionId as string);
      await this.#checkStates(slot, api, states);
    }
    return listed;
  }

  async #checkStates(slot: Slot, api: PaymentApi, states: readonly PaymentEvent[]): Promise<void> {
    const { database } = this.tools.intake;
    const ids = states.map(({ providerSubscriptionId }) => providerSubscriptionId as string);
    const stored = await findByProviderIds(database, slot, ids);
    const users = await findUserStates(
      database,
      states.flatMap(({ userId }) => (userId === null ? [] : [userId])),
    );
    for (const state of states) {
      const ours = stored.get(state.providerSubscriptionId as string);
      if (ours !== undefined) {
        this.check();
        await this.#compare(api, ours, state);
      } else if (
        state.userId !== null &&
        users.get(state.userId) === "present" &&
        state.status !== "canceled"
      ) {
        this.check();
        await this.#reportMissing(slot, state);
      }
    }
  }

  async #fetchEach(
    slot: Slot,
    api: PaymentApi,
    subscriptions: Iterable<Subscription> | AsyncIterable<Subscription>,
  ): Promise<void> {
    await forEachConcurrently(subscriptions, (ours) => this.#fetchOne(slot, api, ours));
  }

  async #fetchOne(slot: Slot, api: PaymentApi, ours: Subscription): Promise<void> {
    const providerId = ours.providerSubscriptionId as string;
    try {
      const state = await api.fetchSubscription(providerId);
      this.check();
      if (state !== null) {
        await this.#compare(api, ours, state);
        return;
      }
      const drift = { field: "providerSubscriptionId", ours: providerId, theirs: null };
      await this.#reportDrift(ours, [drift]);
      if (this.options.repair)
        this.fail(slot, providerId, unclearStateSentence({ cause: "not_at_provider" }));
    } catch (error) {
      if (!isPaymentApiProblem(error)) throw error;
      this.fail(slot, providerId, error.message);
    }
  }

  async #compare(api: PaymentApi, ours: Subscription, theirs: PaymentEvent): Promise<void> {
    const drift = subscriptionDrift(ours, theirs, this.tools.intake.plans);
    if (drift.length === 0) return;
    await this.#reportDrift(ours, drift);
    if (this.options.repair) await this.#repair(api, ours);
  }

  async #reportDrift(ours: Subscription, drift: readonly FieldDrift[]): Promise<void> {
    const [last] = await lastEventIds(this.tools.intake.database, [ours.id]);
    for (const field of drift) {
      this.drift({
        ...{ kind: "subscription", id: ours.id, slot: ours.provider, ...field },
        providerId: ours.providerSubscriptionId as string,
        lastEventId: last?.eventId ?? null,
      });
    }
  }

  async #repair(api: PaymentApi, ours: Subscription): Promise<void> {
    const { intake } = this.tools;
    const providerId = ours.providerSubscriptionId as string;
    try {
      const reconcilable = await findReconcilable(intake.database, ours.id);
      if (reconcilable === null) return;
      const options = {
        by: OPERATOR,
        audit: "changes",
        dryRun: false,
        notify: this.options.notify,
      } as const;
      const comparison = await compare(intake, api, reconcilable, options);
      if (comparison.outcome === "left")
        this.fail(ours.provider, providerId, unclearStateSentence(comparison.because));
      else this.repaired();
    } catch (error) {
      if (!isPaymentApiProblem(error)) throw error;
      this.fail(ours.provider, providerId, error.message);
    }
  }

  async #reportMissing(slot: Slot, state: PaymentEvent): Promise<void> {
    const providerId = state.providerSubscriptionId as string;
    this.drift({
      kind: "subscription",
      ...{ id: null, slot, providerId, field: "status", ours: null, theirs: state.status },
      lastEventId: null,
    });
    if (!this.options.repair) return;
    const adoption = await adopt(this.tools.intake, slot, state, {
      by: OPERATOR,
      notify: this.options.notify,
    });
    if (adoption.outcome === "adopted") this.repaired();
    else this.fail(slot, providerId, adoption.reason);
  }

  fail(slot: Slot, providerId: string | null, reason: string): void {
    this.#report.failed.push({ slot, providerId, reason });
  }

  drift(drift: Drift): void {
    this.#report.drift.push(drift);
  }

  repaired(): void {
    this.#report.repaired += 1;
  }

  check(): void {
    this.#report.checked += 1;
    this.options.progressed(this.#report.checked, this.#total);
  }
}

async function* unlisted(
  subscriptions: AsyncIterable<Subscription>,
  listed: ReadonlySet<string>,
): AsyncGenerator<Subscription> {
  for await (const subscription of subscriptions)
    if (!listed.has(subscription.providerSubscriptionId as string)) yield subscription;
}
