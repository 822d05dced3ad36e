import { OPERATOR } from "../domain/callers/caller.ts";
import { type PaymentState, paymentStatusOf } from "../domain/payments/payment-state.ts";
import type { PaymentApi } from "../domain/providers/payment-api.ts";
import type { Slot } from "../domain/slot.ts";
import type { Subscription } from "../domain/subscriptions/subscription.ts";
import {
  eachPaymentId,
  findPaymentOwners,
  findPayments,
  paymentsOfSubscription,
  type VerifiablePayment,
} from "../store/payments/verify-payments.ts";
import { comparePayment } from "./compare-payment.ts";
import { forEachConcurrently } from "./for-each-concurrently.ts";
import { inBatches } from "./in-batches.ts";
import { paymentDrift } from "./payment-drift.ts";
import { readTogether } from "./read-together.ts";
import type { FieldDrift } from "./subscription-drift.ts";
import { unrepeated } from "./unrepeated.ts";
import type { Verification } from "./verification.ts";

/** Compares all payments of a slot: through the provider's list, and one by one what the list lacks. */
export async function verifyPayments(run: Verification, slot: Slot, api: PaymentApi): Promise<void> {
  const all = { since: null, providerSubscriptionId: null };
  const listed = await verifyListed(run, slot, api, api.listPayments(all));
  const ids = unlisted(eachPaymentId(run.tools.intake.database, slot), listed);
  await forEachConcurrently(ids, (id) => verifyUnlisted(run, slot, api, id));
}

/** Compares the payments of these subscriptions. */
export async function verifyPaymentsOf(
  run: Verification,
  slot: Slot,
  api: PaymentApi,
  subscriptions: readonly Subscription[],
): Promise<void> {
  await forEachConcurrently(subscriptions, async ({ providerSubscriptionId }) => {
    if (providerSubscriptionId === null) return;
    await run.checkOrFail(slot, providerSubscriptionId, async () => {
      const selection = { since: null, providerSubscriptionId };
      const listed = await verifyListed(run, slot, api, api.listPayments(selection));
      const ours = await paymentsOfSubscription(run.tools.intake.database, slot, providerSubscriptionId);
      const others = ours.filter((payment) => !listed.has(payment.providerPaymentId));
      for (const { providerPaymentId } of others) await verifyUnlisted(run, slot, api, providerPaymentId);
    });
  });
}

/** Returns the provider's ids of all payments in the list. */
async function verifyListed(
  run: Verification,
  slot: Slot,
  api: PaymentApi,
  list: AsyncIterable<PaymentState>,
): Promise<ReadonlySet<string>> {
  const listed = new Set<string>();
  const payments = unrepeated(list, ({ charge }) => charge.id, listed);
  for await (const states of inBatches(payments)) await verifyBatch(run, slot, api, states);
  return listed;
}

async function verifyBatch(
  run: Verification,
  slot: Slot,
  api: PaymentApi,
  states: readonly PaymentState[],
): Promise<void> {
  const { database } = run.tools.intake;
  const ids = states.map(({ charge }) => charge.id);
  const storedPayments = await findPayments(database, slot, ids);
  const missing = states.filter((state) => !storedPayments.has(state.charge.id) && !state.isUndecided);
  const owners = await findPaymentOwners(database, slot, missing);
  for (const state of states) {
    const ours = storedPayments.get(state.charge.id);
    if (ours === undefined) continue;
    run.check();
    await verifyOne(run, api, ours, state);
  }
  for (const [at, state] of missing.entries()) {
    const owner = owners[at];
    // Other products of the same account have payments too.
    if (!owner?.hasSubscription && !owner?.userId) continue;
    run.check();
    await reportMissing(run, slot, api, state);
  }
}

function verifyUnlisted(run: Verification, slot: Slot, api: PaymentApi, id: string): Promise<void> {
  return run.checkOrFail(slot, id, async () => {
    const ours = (await findPayments(run.tools.intake.database, slot, [id])).get(id);
    const state = await api.fetchPayment(id);
    if (ours === undefined) return;
    run.check();
    if (state !== null) return await verifyOne(run, api, ours, state);
    report(run, ours, [{ field: "providerPaymentId", ours: id, theirs: null }]);
    if (run.options.repair) run.leave(slot, id, REASONS.not_at_provider);
  });
}

async function verifyOne(
  run: Verification,
  api: PaymentApi,
  ours: VerifiablePayment,
  theirs: PaymentState,
): Promise<void> {
  if (paymentDrift(ours, theirs).length === 0) return;
  const { provider: slot, providerPaymentId: id } = ours;
  const findOurs = async () => (await findPayments(run.tools.intake.database, slot, [id])).get(id) ?? null;
  await run.checkOrFail(slot, id, async () => {
    // One of the two may have been read before an event that settles it.
    const now = await readTogether(findOurs, () => api.fetchPayment(id));
    if (now === "keeps_changing") return run.fail(slot, id, REASONS[now]);
    if (now === null) return;
    if (now.theirs === null) return run.fail(slot, id, REASONS.not_at_provider);
    const drift = paymentDrift(now.ours, now.theirs);
    if (drift.length === 0) return;
    report(run, now.ours, drift);
    await repair(run, slot, api, id);
  });
}

async function reportMissing(
  run: Verification,
  slot: Slot,
  api: PaymentApi,
  state: PaymentState,
): Promise<void> {
  const providerId = state.charge.id;
  run.drift({
    kind: "payment",
    id: null,
    slot,
    providerId,
    lastEventId: null,
    field: "status",
    ours: null,
    theirs: paymentStatusOf(state),
  });
  await repair(run, slot, api, providerId);
}

function report(run: Verification, ours: VerifiablePayment, drift: readonly FieldDrift[]): void {
  const { id, provider: slot, providerPaymentId: providerId, lastEventId } = ours;
  for (const field of drift) run.drift({ kind: "payment", id, slot, providerId, ...field, lastEventId });
}

const REASONS = {
  not_at_provider: "the provider knows no payment by this id",
  keeps_changing: "new events keep arriving",
} as const;

function repair(run: Verification, slot: Slot, api: PaymentApi, id: string): Promise<void> {
  return run.repairOrFail({ provider: slot, providerPaymentId: id }, async () => {
    const options = { providerPaymentId: id, by: OPERATOR, notify: run.options.notify };
    const comparison = await comparePayment(run.tools.intake, slot, api, options);
    if (comparison === "not_at_provider" || comparison === "keeps_changing")
      run.leave(slot, id, REASONS[comparison]);
    // Else an event has corrected it meanwhile.
    else if (comparison !== "unchanged") run.repaired();
  });
}

async function* unlisted(ids: AsyncIterable<string>, listed: ReadonlySet<string>): AsyncGenerator<string> {
  for await (const id of ids) if (!listed.has(id)) yield id;
}
