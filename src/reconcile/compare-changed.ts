import type { PaymentEvent } from "../domain/events/payment-event.ts";
import { isOfAnotherProduct } from "../domain/events/plan-of-event.ts";
import { priceWithId } from "../domain/plans/plan.ts";
import type { PaymentApi } from "../domain/providers/payment-api.ts";
import type { Slot } from "../domain/slot.ts";
import type { Subscription } from "../domain/subscriptions/subscription.ts";
import { isRunning } from "../domain/subscriptions/subscription-status.ts";
import { logUnwanted } from "../intake/groups/deleted-users.ts";
import type { Intake } from "../intake/intake.ts";
import { notifyUnknownOwner } from "../store/notifications/unknown-owner-notifications.ts";
import { findByProviderIds } from "../store/reconciliation/verification.ts";
import { insertUnwanted, isUnwanted } from "../store/subscriptions/unwanted-subscriptions.ts";
import type { UserState } from "../store/users/user-states.ts";
import { adopt } from "./adopt.ts";
import { compareById } from "./compare.ts";
import { comparePayments } from "./compare-payments.ts";
import { eachSubscription } from "./each-subscription.ts";
import { findOwners } from "./find-owners.ts";
import { inBatches } from "./in-batches.ts";
import { notCorrected } from "./not-corrected.ts";
import type { Reconciler } from "./reconciler.ts";
import { subscriptionDrift } from "./subscription-drift.ts";
import { unrepeated } from "./unrepeated.ts";

export type ChangedReport = {
  /** How many subscriptions have changed according to the provider. */
  listed: number;
  corrected: number;
  /** Subscriptions known to the provider but not to us. */
  adopted: number;
  /** Payments that were missing or differed, and are recorded now. */
  payments: number;
};

/** A provider without a list of events repeats them for less: later they are lost. */
const EVENTS_LOST_AFTER_MS = 5 * 60 * 1000;

/**
 * For a provider that lists no events, or has sent none: compares the subscriptions that have changed there
 * since and the payments made since, and adopts unknown subscriptions of our users; those of deleted accounts
 * are to be canceled, and administrators are notified of those that belong to nobody. A dry run counts what it
 * would change.
 * @throws PaymentApiProblem, DatabaseUnavailable
 */
export async function compareChanged(
  intake: Intake,
  slot: Slot,
  api: PaymentApi,
  {
    since,
    dryRun,
    by,
    isStopping,
  }: { since: Date; dryRun: boolean; by: Reconciler; isStopping: () => boolean },
): Promise<ChangedReport> {
  const report: ChangedReport = { listed: 0, corrected: 0, adopted: 0, payments: 0 };
  // Pages are fetched later; this is the earliest possible time.
  const askedAtMicros = Date.now() * 1000;
  const list = unrepeated(
    eachSubscription(api, { changedSince: since }),
    ({ providerSubscriptionId }) => providerSubscriptionId,
  );
  for await (const states of inBatches(list)) {
    if (isStopping()) return report;
    report.listed += states.length;
    await compareBatch(intake, slot, api, { states, askedAtMicros, dryRun, by, isStopping, report });
  }
  const failed = (providerPaymentId: string, error: unknown) => {
    notCorrected(intake, { provider: slot, providerPaymentId }, error);
  };
  const options = { since, dryRun, by, notify: true, failed, isStopping };
  report.payments = await comparePayments(intake, slot, api, options);
  return report;
}

type Batch = {
  states: readonly PaymentEvent[];
  askedAtMicros: number;
  dryRun: boolean;
  by: Reconciler;
  isStopping: () => boolean;
  report: ChangedReport;
};

async function compareBatch(intake: Intake, slot: Slot, api: PaymentApi, batch: Batch): Promise<void> {
  const { database } = intake;
  const { states } = batch;
  const ids = states.map(({ providerSubscriptionId }) => providerSubscriptionId as string);
  const stored = await findByProviderIds(database, slot, ids);
  const ownerOf = await findOwners(database, slot, states);
  for (const state of states) {
    if (batch.isStopping()) return;
    const { providerSubscriptionId } = state;
    const ours = stored.get(providerSubscriptionId as string);
    const compared = ours
      ? compareKnown(intake, api, { ours, state }, batch)
      : takeOver(intake, slot, api, { state, owner: ownerOf(state) }, batch);
    await compared.catch((error: unknown) => {
      notCorrected(intake, { provider: slot, providerSubscriptionId }, error);
    });
  }
}

async function compareKnown(
  intake: Intake,
  api: PaymentApi,
  { ours, state }: { ours: Subscription; state: PaymentEvent },
  { dryRun, by, report }: Batch,
): Promise<void> {
  if (subscriptionDrift(ours, state, intake.plans).length === 0) return;
  const options = { by, audit: "changes", dryRun, notify: true } as const;
  const comparison = await compareById(intake, api, ours.id, options);
  if (comparison?.outcome === "compared" && comparison.changes !== null) report.corrected += 1;
}

/** What becomes of a subscription that we do not know depends on whose it is. */
async function takeOver(
  intake: Intake,
  slot: Slot,
  api: PaymentApi,
  { state, owner }: { state: PaymentEvent; owner: UserState | null },
  { askedAtMicros, dryRun, by, report }: Batch,
): Promise<void> {
  const { database } = intake;
  const unknown = { provider: slot, providerSubscriptionId: state.providerSubscriptionId as string };
  if (owner === "present") {
    if (dryRun) {
      report.adopted += 1;
      return;
    }
    // Nobody is notified of a subscription that had ended before it was seen.
    const options = { askedAtMicros, by, notify: state.status !== "canceled" };
    const { outcome } = await adopt(intake, slot, state, options);
    if (outcome === "adopted") report.adopted += 1;
    return;
  }
  if (dryRun) return;
  const isOver = state.status === "canceled";
  if (owner === "deleted" && !isOver && !isOfAnotherProduct(slot, state, intake.plans)) {
    await insertUnwanted(database, [unknown]);
    logUnwanted(intake, [unknown]);
  }
  const isLost = owner === null && isLostPurchase(intake, slot, api, { state, askedAtMicros });
  if (isLost && !(await isUnwanted(database, unknown))) {
    const { providerSubscriptionId } = unknown;
    intake.log.error(
      { slot, providerSubscriptionId },
      "a subscription to one of the plans belongs to no user",
    );
    await notifyUnknownOwner(database, unknown);
  }
}

/**
 * Whether a subscription that belongs to nobody was bought here, and all of its events were lost: only they
 * say whose it is, where the provider lists none.
 */
function isLostPurchase(
  { plans }: Pick<Intake, "plans">,
  slot: Slot,
  api: Pick<PaymentApi, "listEvents">,
  { state, askedAtMicros }: { state: PaymentEvent; askedAtMicros: number },
): boolean {
  if (api.listEvents !== null || state.userId !== null || !isRunning(state.status ?? "canceled"))
    return false;
  const ageMs = (askedAtMicros - (state.changedAtMicros ?? askedAtMicros)) / 1000;
  const priceIds = state.items.flatMap((item) => item.priceIds);
  const isOurs = plans.plans.some((plan) => priceIds.some((id) => priceWithId(plan, slot, id)));
  return isOurs && ageMs >= EVENTS_LOST_AFTER_MS;
}
