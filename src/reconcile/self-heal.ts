import { setTimeout as sleep } from "node:timers/promises";
import { configuredSlots, type PaymentApi } from "../domain/providers/payment-api.ts";
import { isPaymentApiProblem } from "../domain/providers/payment-api-problem.ts";
import { type UnclearState, unclearStateSentence } from "../domain/refusals/unclear-state.ts";
import type { Slot } from "../domain/slot.ts";
import type { Intake } from "../intake/intake.ts";
import type { Lease } from "../store/leases.ts";
import { reserveFetch } from "../store/reconciliation/heal-pace.ts";
import {
  type DueHeal,
  finishHeal,
  hasDueHeals,
  postponeHeal,
  settleHeal,
  startDueHeals,
} from "../store/reconciliation/heals.ts";
import { findReconcilable } from "../store/reconciliation/reconciliations.ts";
import { adopt } from "./adopt.ts";
import { compare } from "./compare.ts";
import { compareScheduledChange } from "./compare-scheduled-change.ts";
import { notCorrected } from "./not-corrected.ts";
import type { ReconcileTools } from "./reconcile-tools.ts";
import { workOnSlots } from "./work-on-slots.ts";

/** Over all processes, see `heal_pace`. */
const FETCHES_PER_SECOND = 5;
/** As many as can be fetched within a second. */
const COMPARED_AT_ONCE = FETCHES_PER_SECOND;
const FIRST_RETRY_SECONDS = 2;
const MAX_RETRY_SECONDS = 15 * 60;
/**
 * A purchase that the provider does not list by then, minutes after its checkout, is left to its next event.
 */
const MAX_LISTINGS = 8;

export type SelfHealReport = { corrected: number; postponed: number; settled: number };

/** Whether there is anything to do for `healFlagged`. */
export async function isHealDue({ intake, payments }: ReconcileTools): Promise<boolean> {
  const slots = configuredSlots(payments);
  return hasDueHeals(intake.database, slots);
}

/**
 * Compares each subscription that is due, flagged or requested, with its provider, outside the intake's
 * transactions, until none is left. Failures are retried with back-off; one that the provider does not know
 * stays flagged and is not fetched again before its next event.
 */
export async function healFlagged(
  tools: ReconcileTools,
  { isStopping, lease }: { isStopping: () => boolean; lease: Lease },
): Promise<SelfHealReport> {
  const report: SelfHealReport = { corrected: 0, postponed: 0, settled: 0 };
  await workOnSlots(async (slot) => {
    const api = tools.payments[slot];
    if (api === null) return null;
    const due = await startDueHeals(
      tools.intake.database,
      slot,
      { firstRetrySeconds: FIRST_RETRY_SECONDS, maxRetrySeconds: MAX_RETRY_SECONDS, limit: COMPARED_AT_ONCE },
      lease,
    );
    if (due.length === 0) return null;
    const paced = pacedFetch(tools, slot, api);
    return async () => {
      const outcomes = await Promise.all(due.map((job) => healOne(tools, paced, job)));
      for (const outcome of outcomes) report[outcome] += 1;
    };
  }, isStopping);
  return report;
}

function pacedFetch({ intake }: ReconcileTools, slot: Slot, api: PaymentApi): PacedApi {
  const turn = async () => {
    const { waitMs } = await reserveFetch(intake.database, slot, { fetchesPerSecond: FETCHES_PER_SECOND });
    if (waitMs > 0) await sleep(waitMs);
  };
  return {
    traits: api.traits,
    fetchSubscription: async (id) => {
      await turn();
      return api.fetchSubscription(id);
    },
    findSubscriptions: async (customer) => {
      await turn();
      return api.findSubscriptions(customer);
    },
    fetchScheduledChange: async (id, priceId) => {
      await turn();
      return api.fetchScheduledChange(id, priceId);
    },
  };
}

type PacedApi = Pick<
  PaymentApi,
  "traits" | "fetchSubscription" | "findSubscriptions" | "fetchScheduledChange"
>;

/** Settled only by a change of `plans.config.ts` or at the provider; they are compared again for that. */
const NEEDS_OPERATOR: ReadonlySet<UnclearState["cause"]> = new Set([
  "plan_unknown",
  "price_unknown",
  "no_plan",
]);

async function healOne(
  { intake }: ReconcileTools,
  api: PacedApi,
  due: DueHeal,
): Promise<keyof SelfHealReport> {
  const postpone = async (problem: string) => {
    await postponeHeal(intake.database, due.id, { seconds: secondsUntilRetry(due.attempts), problem });
    return "postponed" as const;
  };
  try {
    if (due.providerSubscriptionId === null) {
      if (await adoptPurchase(intake, api, due)) return "corrected";
      const problem = "the provider lists no subscription for its checkout yet";
      if (due.attempts < MAX_LISTINGS) return await postpone(problem);
      await settleHeal(intake.database, due, problem);
      return "settled";
    }
    const comparison = await compare(intake, api, due, {
      by: "server",
      audit: "changes",
      dryRun: false,
      notify: true,
    });
    if (comparison.outcome === "compared") {
      if (due.isRequested && api.traits.changesAtPeriodEnd) await compareScheduledChange(intake, api, due.id);
      await finishHeal(intake.database, due);
      return "corrected";
    }
    const problem = unclearStateSentence(comparison.because);
    if (NEEDS_OPERATOR.has(comparison.because.cause)) {
      const { id: subscriptionId, provider: slot } = due;
      const message = "a subscription needs the operator: its plan is unclear";
      intake.log.warn({ slot, subscriptionId, reason: problem }, message);
    }
    if (comparison.because.cause !== "not_at_provider") return await postpone(problem);
    await settleHeal(intake.database, due, problem);
    return "settled";
  } catch (error) {
    return postpone(isPaymentApiProblem(error) ? error.message : notCorrected(intake, due, error));
  }
}

/**
 * A checkout that named no subscription: takes over the one that its customer has at the provider, unless an
 * event has meanwhile. Returns whether the subscription has an id now.
 */
async function adoptPurchase(intake: Intake, api: PacedApi, due: DueHeal): Promise<boolean> {
  const { customerId, userId } = due;
  if (customerId === null) return false;
  const options = { askedAtMicros: Date.now() * 1000, by: "server", notify: true } as const;
  for (const state of await api.findSubscriptions({ userId, customerId })) {
    if (state.status === "canceled") continue;
    await adopt(intake, due.provider, { ...state, userId: null }, options);
  }
  const reconcilable = await findReconcilable(intake.database, due.id);
  if (reconcilable?.providerSubscriptionId === null) return false;
  await finishHeal(intake.database, due);
  return true;
}

/** Jitter, so that what became due together spreads out. */
function secondsUntilRetry(attempts: number): number {
  const wait = Math.min(FIRST_RETRY_SECONDS * 2 ** (attempts - 1), MAX_RETRY_SECONDS);
  return wait * (0.8 + Math.random() * 0.4);
}
