import { setTimeout as sleep } from "node:timers/promises";
import { isPaymentApiProblem, type PaymentApi, type Payments } from "../domain/payment-api.ts";
import { SLOTS, type Slot } from "../domain/slot.ts";
import type { Intake } from "../intake/intake.ts";
import {
  claimDueHeals,
  type DueHeal,
  finishHeal,
  postponeHeal,
  reserveFetch,
  settleHeal,
} from "../store/heals.ts";
import { compare } from "./compare.ts";

export type SelfHealTools = {
  intake: Intake;
  payments: Payments;
};

/** Over all processes, see `heal_pace`. */
const FETCHES_PER_SECOND = 5;
/** As many as can be fetched within a second: the rest is left to the next pass, or to another process. */
const CLAIMED_AT_ONCE = FETCHES_PER_SECOND;
/** Longer than comparing all that are claimed at once takes. */
const LEASE_SECONDS = 60;
const FIRST_RETRY_SECONDS = 2;
const MAX_RETRY_SECONDS = 15 * 60;

export type SelfHealReport = { corrected: number; postponed: number; settled: number };

/**
 * One pass over the flagged subscriptions: compares each that is due with its provider, outside the intake's
 * transactions. Failures are retried with back-off; one that the provider does not know stays flagged and is not
 * fetched again before its next event.
 */
export async function healFlagged(
  tools: SelfHealTools,
  isStopping: () => boolean = () => false,
): Promise<SelfHealReport> {
  const report: SelfHealReport = { corrected: 0, postponed: 0, settled: 0 };
  await Promise.all(SLOTS.map((slot) => healSlot(tools, slot, report, isStopping)));
  return report;
}

async function healSlot(
  tools: SelfHealTools,
  slot: Slot,
  report: SelfHealReport,
  isStopping: () => boolean,
): Promise<void> {
  const api = tools.payments[slot];
  if (api === null) return;
  const { database } = tools.intake;
  const paced = pacedFetch(tools, slot, api);
  while (!isStopping()) {
    const due = await claimDueHeals(database, slot, { leaseSeconds: LEASE_SECONDS, limit: CLAIMED_AT_ONCE });
    if (due.length === 0) return;
    const outcomes = await Promise.all(due.map((one) => healOne(tools, paced, one)));
    for (const outcome of outcomes) report[outcome] += 1;
  }
}

function pacedFetch(
  { intake }: SelfHealTools,
  slot: Slot,
  api: PaymentApi,
): Pick<PaymentApi, "fetchSubscription"> {
  return {
    fetchSubscription: async (id) => {
      const { waitMs } = await reserveFetch(intake.database, slot, { fetchesPerSecond: FETCHES_PER_SECOND });
      if (waitMs > 0) await sleep(waitMs);
      return api.fetchSubscription(id);
    },
  };
}

async function healOne(
  { intake }: SelfHealTools,
  api: Pick<PaymentApi, "fetchSubscription">,
  due: DueHeal,
): Promise<keyof SelfHealReport> {
  const postpone = async (problem: string) => {
    await postponeHeal(intake.database, due.id, { seconds: secondsUntilRetry(due.attempts), problem });
    return "postponed" as const;
  };
  try {
    const comparison = await compare(intake, api, due, { by: "server", dryRun: false, notify: true });
    if (comparison.outcome === "compared") {
      await finishHeal(intake.database, due.id);
      return "corrected";
    }
    if (comparison.because !== "unknown to provider") return await postpone(comparison.reason);
    await settleHeal(intake.database, due, comparison.reason);
    return "settled";
  } catch (error) {
    if (!isPaymentApiProblem(error)) throw error;
    return postpone(error.message);
  }
}

/** Jitter, so that what became due together spreads out. */
function secondsUntilRetry(attempts: number): number {
  const wait = Math.min(FIRST_RETRY_SECONDS * 2 ** (attempts - 1), MAX_RETRY_SECONDS);
  return wait * (0.8 + Math.random() * 0.4);
}
