import { setTimeout as sleep } from "node:timers/promises";
import { findInSlot } from "../../operations/subscriptions/find-in-slot.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { type Check, check, type Found } from "../../simulator/scenario/expected-state.ts";
import type { Simulation } from "../../simulator/scenario/prepare.ts";
import { isUnreachable } from "../conclude.ts";
import { runAsOperator } from "../run-as-operator.ts";

const BATCH = 500;
const POLL_EVERY_MS = 500;
/** The first retry follows 15 s after a failure, with 20 % jitter. */
const RETRY_WITHIN_MS = 20_000;

export type FinalState = { checked: Check; notChecked: null } | { checked: null; notChecked: string };

type Circumstances = { mayBeOutOfOrder(life: number): boolean; hasOpenWork: boolean };

/**
 * Compares the subscriptions in this command's database with the events that were sent, again and again while
 * the server may still retry or take over a lease.
 */
export async function checkFinalState(
  runtime: Runtime,
  simulation: Simulation,
  circumstances: Circumstances,
): Promise<FinalState> {
  try {
    return await checkInTime(runtime, simulation, circumstances);
  } catch (error) {
    if (!isUnreachable(error)) throw error;
    return { checked: null, notChecked: "this command's database cannot be reached" };
  }
}

async function checkInTime(
  runtime: Runtime,
  simulation: Simulation,
  { mayBeOutOfOrder, hasOpenWork }: Circumstances,
): Promise<FinalState> {
  const waitMs = hasOpenWork ? runtime.intake.leaseSeconds * 1_000 + RETRY_WITHIN_MS : 0;
  const giveUpAt = performance.now() + waitMs;
  for (;;) {
    const subscriptions = await findSubscriptions(runtime, simulation);
    if (subscriptions.length === 0) {
      return {
        checked: null,
        notChecked: "the server uses another database than this command: none of the sent events are in it",
      };
    }
    const checked = check(simulation.expected, subscriptions, mayBeOutOfOrder);
    if (checked.mismatches.length === 0 || performance.now() >= giveUpAt)
      return { checked, notChecked: null };
    await sleep(POLL_EVERY_MS);
  }
}

async function findSubscriptions(runtime: Runtime, { slot, ids }: Simulation): Promise<Found[]> {
  const all: Found[] = [];
  for (let first = 0; first < ids.length; first += BATCH) {
    const batch = ids.slice(first, first + BATCH);
    const subscriptions = await runAsOperator(findInSlot, runtime, {
      provider: slot,
      userIds: batch.map((id) => id.userId),
      providerSubscriptionIds: batch.map((id) => id.subscriptionId),
    });
    all.push(...subscriptions);
  }
  return all;
}
