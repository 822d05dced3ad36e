import type { Person } from "../domain/callers/caller.ts";
import type { ChangePreview } from "../domain/providers/payment-api.ts";
import { isPaymentApiProblem } from "../domain/providers/payment-api-problem.ts";
import type { Reason } from "../domain/refusals/reasons.ts";
import { Refusal, refuse } from "../domain/refusals/refusal.ts";
import type { Intake } from "../intake/intake.ts";
import { compareById } from "../reconcile/compare.ts";
import { recordAudit } from "../store/audit/record-audit.ts";
import { type Queryable, throwUnavailableOnTimeout } from "../store/database.ts";
import { withLease } from "../store/hold-lease.ts";
import { type Lease, renewLease } from "../store/leases.ts";
import { checkoutLease } from "../store/subscriptions/checkouts.ts";
import { recordIntervalChange } from "../store/subscriptions/interval-changes.ts";
import {
  deleteScheduledChange,
  saveScheduledChange,
  scheduledChangeVersion,
} from "../store/subscriptions/scheduled-changes.ts";
import { mapProviderErrors, type OperatorLog, type ProviderTools } from "./map-provider-errors.ts";
import type { ResolvedChange } from "./resolve-change.ts";

type Deps = ProviderTools & { database: Queryable; intake: Intake };

const LEASE_SECONDS = 20;

/** Refusals for the subscription's state, for which the plans are not at fault. */
const STATE_REASONS: ReadonlySet<Reason> = new Set<Reason>([
  "no_subscription",
  "subscription_not_paid",
  "change_not_supported",
]);

const REJECTED: ReadonlySet<Reason> = new Set<Reason>(["provider_rejected", "change_not_supported"]);

/**
 * Changes a subscription at its provider, then stores the provider's new state, which its webhook will repeat.
 * One request per person at a time, and each is resolved only then: providers take the whole new state, so
 * that one resolved earlier would undo what another has just changed.
 * @param options.isPreviewed its cost has been shown: an event of what that depends on may be late or lost, so that the
 * subscription is compared with the provider first
 * @param options.by recorded in the audit log unless it is the person, in a session
 * @throws Refusal `unavailable`
 */
export async function changeSubscription(
  deps: Deps,
  resolve: () => Promise<ResolvedChange>,
  { isPreviewed, by }: { isPreviewed: boolean; by: Person },
): Promise<void> {
  const { userId } = by;
  const completed = await withLease(
    deps.database,
    checkoutLease(userId),
    { seconds: LEASE_SECONDS },
    async (lease) => {
      let resolved = await resolve();
      if (isPreviewed && resolved.isChange) {
        const facts = { slot: resolved.subscription.provider, userId };
        await mapProviderErrors(deps, facts, compareStored(deps, resolved));
        resolved = await resolve();
      }
      if (!resolved.isChange) return true;
      // Before the provider is asked: a crash must not leave a change of which nobody knows whose key it was.
      if (by.kind !== "session") await recordRequest(deps.database, resolved, by);
      await changeAndCompare(deps, resolve, resolved, lease);
      return true;
    },
  );
  if (completed === null) refuse({ reason: "checkout_in_progress" });
}

function recordRequest(
  database: Queryable,
  { subscription, planId, change }: ResolvedChange,
  by: Person,
): Promise<void> {
  const details = { planId, seats: change.resultingSeats, atPeriodEnd: change.when === "period_end" };
  const target = { type: "subscription", id: subscription.id } as const;
  return recordAudit(database, by, { action: "subscription.change_requested", target, details });
}

async function changeAndCompare(
  deps: Deps,
  resolve: () => Promise<ResolvedChange>,
  resolved: ResolvedChange,
  lease: Lease,
): Promise<void> {
  const { api, subscription, change } = resolved;
  const { provider, providerSubscriptionId, userId } = subscription;
  // Nothing else finds out what waits for the period's end when this process ends before that is stored.
  if (change.when === "period_end" || (await isChangeWaiting(deps.database, subscription.id)))
    deps.intake.requestComparison?.(provider, [subscription.id]);
  // This process may have been stopped for so long that another request has changed the subscription.
  if (!(await renewLease(deps.database, lease, { seconds: LEASE_SECONDS })))
    refuse({ reason: "checkout_in_progress" });
  const { log, logHeld } = holdLog(deps.log);
  try {
    const changing = api.changeSubscription(providerSubscriptionId, change);
    await mapProviderErrors({ log }, { slot: provider, userId }, forgetWithdrawn(deps, resolved, changing));
    await rememberInterval(deps.database, resolved);
    await rememberSchedule(deps.database, resolved);
  } catch (error) {
    if (!isRejection(error)) logHeld();
    if (mayHaveChanged(error)) await rememberInterval(deps.database, resolved);
    // Without a response the change may have been made; asking again now would take as long once more.
    const isUnreachable = error instanceof Refusal && error.reason === "provider_unreachable";
    if (isUnreachable && deps.intake.requestComparison)
      deps.intake.requestComparison(provider, [subscription.id]);
    else await compareAfterwards(deps, resolved);
    if (isRejection(error)) await refuseForState(resolve, logHeld);
    throw error;
  }
  if (change.when === "now") await compareAfterwards(deps, resolved);
}

/**
 * What a change costs; `null` where the provider does not say.
 * @throws Refusal as for the change itself
 */
export async function previewChange(
  deps: Deps,
  resolve: () => Promise<ResolvedChange>,
  resolved: ResolvedChange,
): Promise<ChangePreview | null> {
  const { api, subscription, change } = resolved;
  const { provider, providerSubscriptionId, userId } = subscription;
  const facts = { slot: provider, userId };
  const { log, logHeld } = holdLog(deps.log);
  try {
    return await mapProviderErrors({ log }, facts, api.previewChange(providerSubscriptionId, change));
  } catch (error) {
    if (isRejection(error)) {
      await compareAfterwards(deps, resolved);
      await refuseForState(resolve, logHeld);
    } else logHeld();
    throw error;
  }
}

function isRejection(error: unknown): boolean {
  return error instanceof Refusal && REJECTED.has(error.reason);
}

/**
 * The event that says why a provider rejects a change, such as that the subscription has ended, may not have arrived. Once
 * the subscription has been compared, its state is the reason, and the plans are not at fault.
 * @throws Refusal if its state refuses the change
 */
async function refuseForState(resolve: () => Promise<ResolvedChange>, logHeld: () => void): Promise<void> {
  await resolve().catch((instead: unknown) => {
    if (!(instead instanceof Refusal && STATE_REASONS.has(instead.reason))) logHeld();
    throw instead;
  });
  logHeld();
}

/** Holds log lines back until it is known that they report an error. */
function holdLog(log: OperatorLog): { log: OperatorLog; logHeld(): void } {
  const held: Parameters<OperatorLog["error"]>[] = [];
  return {
    log: { error: (...line) => void held.push(line) },
    logHeld: () => {
      for (const line of held) log.error(...line);
    },
  };
}

function mayHaveChanged(error: unknown): boolean {
  return (
    error instanceof Refusal &&
    (error.reason === "provider_unreachable" || error.reason === "change_incomplete")
  );
}

async function rememberInterval(
  database: Queryable,
  { subscription, startsPeriod }: ResolvedChange,
): Promise<void> {
  if (startsPeriod) await recordIntervalChange(database, subscription.id);
}

async function isChangeWaiting(database: Queryable, id: string): Promise<boolean> {
  return (await scheduledChangeVersion(database, id)) !== null;
}

/** The change that waited for the period's end may have been withdrawn although the new one failed. */
async function forgetWithdrawn<Response>(
  { database }: Deps,
  { subscription }: ResolvedChange,
  changing: Promise<Response>,
): Promise<Response> {
  try {
    return await changing;
  } catch (error) {
    if (isPaymentApiProblem(error) && error.hasWithdrawnSchedule)
      await deleteScheduledChange(database, subscription.id);
    throw error;
  }
}

async function compareStored({ intake }: Deps, { api, subscription }: ResolvedChange): Promise<void> {
  const options = { by: "server", audit: "changes", dryRun: false, notify: true } as const;
  await compareById(intake, api, subscription.id, options).catch(throwUnavailableOnTimeout);
}

async function compareAfterwards(deps: Deps, resolved: ResolvedChange): Promise<void> {
  const { id, provider } = resolved.subscription;
  try {
    await compareStored(deps, resolved);
  } catch (error) {
    // Whatever was changed, its event is on its way.
    deps.intake.requestComparison?.(provider, [id]);
    deps.log.error(
      { slot: provider, subscriptionId: id, err: error },
      "a subscription could not be compared with its provider",
    );
  }
}

/** An immediate change withdraws the scheduled one, and so does ordering what is paid now. */
async function rememberSchedule(
  database: Queryable,
  { subscription: { id, currentPeriodEnd }, planId, change }: ResolvedChange,
): Promise<void> {
  const { when, priceId, seats, resultingSeats, resultingPriceId } = change;
  const isUnchanged = priceId === null && seats === null;
  if (when === "now" || isUnchanged) return deleteScheduledChange(database, id);
  if (currentPeriodEnd === null) return;
  await saveScheduledChange(database, {
    subscriptionId: id,
    planId,
    priceId: resultingPriceId,
    seats: resultingSeats,
    takesEffectAt: currentPeriodEnd,
  });
}
