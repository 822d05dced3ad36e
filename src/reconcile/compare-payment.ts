import type { Reversal } from "../domain/payments/payment.ts";
import type { PaymentState } from "../domain/payments/payment-state.ts";
import type { PaymentApi } from "../domain/providers/payment-api.ts";
import type { Slot } from "../domain/slot.ts";
import type { Intake } from "../intake/intake.ts";
import { effectLimits } from "../intake/transaction-limits.ts";
import { recordAudit } from "../store/audit/record-audit.ts";
import type { Queryable } from "../store/database.ts";
import {
  lockPaymentNames,
  settleComparedPayment,
  voidOtherReversals,
} from "../store/payments/correct-payment.ts";
import { recordPayments } from "../store/payments/record-payments.ts";
import type { ReportedPayment } from "../store/payments/reported-payment.ts";
import {
  findPaymentOwners,
  findPayments,
  type VerifiablePayment,
} from "../store/payments/verify-payments.ts";
import { retryOnContention } from "../store/retry-on-contention.ts";
import { inTransaction } from "../store/transaction.ts";
import { waitForUserStates } from "../store/users/user-states.ts";
import { paymentDrift } from "./payment-drift.ts";
import type { Reconciler } from "./reconciler.ts";
import type { FieldDrift } from "./subscription-drift.ts";

export type PaymentComparison = "unchanged" | "corrected" | "recorded" | "not_at_provider" | "keeps_changing";

/** What the provider has answered, and since when it may be outdated. */
export type FetchedPayment = { state: PaymentState; askedAtMicros: number };

const ROUNDS = 5;

/**
 * Compares a payment with its provider's present answer, and records what is missing or differs by the same
 * rules as events. When an event is applied in between, the provider is asked again.
 * @param listed an answer for a payment that was unknown before it was asked for
 * @throws PaymentApiProblem, DatabaseUnavailable
 */
export async function comparePayment(
  intake: Pick<Intake, "database" | "leaseSeconds">,
  slot: Slot,
  api: Pick<PaymentApi, "fetchPayment">,
  {
    providerPaymentId,
    listed,
    ...options
  }: { providerPaymentId: string; by: Reconciler; notify: boolean; listed?: FetchedPayment },
): Promise<PaymentComparison> {
  const attempt = (answer: FetchedPayment, before: VerifiablePayment | null) =>
    retryOnContention(() => correct(intake, slot, { ...answer, before }, options));
  if (listed !== undefined) {
    const comparison = await attempt(listed, null);
    if (comparison !== "changed_meanwhile") return comparison;
  }
  for (let round = 1; round <= ROUNDS; round += 1) {
    const before = (await findPayments(intake.database, slot, [providerPaymentId])).get(providerPaymentId);
    const askedAtMicros = Date.now() * 1000;
    const state = await api.fetchPayment(providerPaymentId);
    if (state === null) return "not_at_provider";
    const comparison = await attempt({ state, askedAtMicros }, before ?? null);
    if (comparison !== "changed_meanwhile") return comparison;
  }
  return "keeps_changing";
}

async function correct(
  intake: Pick<Intake, "database" | "leaseSeconds">,
  slot: Slot,
  {
    before,
    state,
    askedAtMicros,
  }: { before: VerifiablePayment | null; state: PaymentState; askedAtMicros: number },
  { by, notify }: { by: Reconciler; notify: boolean },
): Promise<PaymentComparison | "changed_meanwhile"> {
  const { charge, names, reversals } = state;
  const providerPaymentId = charge.id;
  return inTransaction(intake.database, effectLimits(intake), async (transaction) => {
    const find = async () =>
      (await findPayments(transaction, slot, [providerPaymentId])).get(providerPaymentId);
    await lockPaymentNames(transaction, slot, { providerPaymentId, names });
    const ours = await find();
    if ((ours?.version ?? null) !== (before?.version ?? null)) return "changed_meanwhile";
    if (ours === undefined && state.isUndecided) return "unchanged";
    const drift = ours === undefined ? [] : paymentDrift(ours, state);
    if (ours !== undefined && drift.length === 0) return "unchanged";
    const reports = reportsOf(slot, state, await findPayer(transaction, slot, state));
    const kinds: Reversal["kind"][] = state.hasUnknownDisputes ? ["refund"] : ["refund", "dispute"];
    const listedReversals = { providerPaymentId, listed: reversals.map(({ id }) => id), kinds };
    const { periodStart, periodEnd } = charge;
    await Promise.all([
      voidOtherReversals(transaction, slot, listedReversals),
      recordPayments(transaction, reports, { notify }),
      settleComparedPayment(transaction, slot, { providerPaymentId, periodStart, periodEnd, askedAtMicros }),
    ]);
    const outcome = ours === undefined ? "recorded" : "corrected";
    const recorded = await find();
    await transaction.commitAfter(
      by === "server" || recorded === undefined
        ? []
        : [
            recordAudit(transaction, by, {
              action: "payment.reconciled",
              target: { type: "payment", id: recorded.id },
              details: { outcome, changes: changesOf(drift) },
            }),
          ],
    );
    return outcome;
  });
}

/** `null` also for one who has deleted the account, perhaps just now. */
async function findPayer(transaction: Queryable, slot: Slot, state: PaymentState): Promise<string | null> {
  const [owner] = await findPaymentOwners(transaction, slot, [state]);
  const userId = owner?.userId ?? null;
  if (userId === null) return null;
  return (await waitForUserStates(transaction, [userId])).get(userId) === "present" ? userId : null;
}

/** As if events had reported it: the payment, and each refund and dispute. */
function reportsOf(
  slot: Slot,
  { charge, names, reversals, providerSubscriptionId }: PaymentState,
  userId: string | null,
): ReportedPayment[] {
  const common = {
    provider: slot,
    eventId: null,
    occurredAtMicros: null,
    providerSubscriptionId,
    userId,
    // Whoever it was may have deleted the account: a payment that nobody sees needs no receipt.
    isPersonGone: userId === null,
  };
  return [
    { ...common, report: { charge, names, reversal: null } },
    ...reversals.map((reversal) => ({ ...common, report: { charge: null, names: [], reversal } })),
  ];
}

function changesOf(drift: readonly FieldDrift[]): Record<string, [unknown, unknown]> {
  return Object.fromEntries(drift.map(({ field, ours, theirs }) => [field, [ours, theirs]]));
}
