import { OPERATOR } from "../domain/callers/caller.ts";
import type { PaymentEvent } from "../domain/events/payment-event.ts";
import type { PaymentApi } from "../domain/providers/payment-api.ts";
import { unclearStateSentence } from "../domain/refusals/unclear-state.ts";
import type { Slot } from "../domain/slot.ts";
import type { Subscription } from "../domain/subscriptions/subscription.ts";
import { eachVerifiable, findByProviderIds, findVersioned } from "../store/reconciliation/verification.ts";
import { lastEventId } from "../store/subscriptions/subscription-history.ts";
import { adopt } from "./adopt.ts";
import { compareById } from "./compare.ts";
import { eachSubscription } from "./each-subscription.ts";
import { findOwners } from "./find-owners.ts";
import { forEachConcurrently } from "./for-each-concurrently.ts";
import { inBatches } from "./in-batches.ts";
import { readTogether } from "./read-together.ts";
import { type FieldDrift, subscriptionDrift } from "./subscription-drift.ts";
import { unrepeated } from "./unrepeated.ts";
import type { Verification } from "./verification.ts";

/** Compares all subscriptions of a slot: through the provider's list, and one by one what the list lacks. */
export async function verifySubscriptions(run: Verification, slot: Slot, api: PaymentApi): Promise<void> {
  const listed = await verifyListed(run, slot, api);
  const ours = eachVerifiable(run.tools.intake.database, slot);
  await verifyEach(run, slot, api, unlisted(ours, listed));
}

/** Fetches each of these subscriptions and compares it. */
export async function verifyEach(
  run: Verification,
  slot: Slot,
  api: PaymentApi,
  subscriptions: Iterable<Subscription> | AsyncIterable<Subscription>,
): Promise<void> {
  await forEachConcurrently(subscriptions, (ours) =>
    run.checkOrFail(slot, ours.providerSubscriptionId, () => verifyFetched(run, slot, api, ours)),
  );
}

/** Returns all provider ids in the list. */
async function verifyListed(run: Verification, slot: Slot, api: PaymentApi): Promise<ReadonlySet<string>> {
  const listed = new Set<string>();
  // Pages are fetched later; this is the earliest possible time.
  const askedAtMicros = Date.now() * 1000;
  const list = unrepeated(
    eachSubscription(api, { changedSince: null }),
    ({ providerSubscriptionId }) => providerSubscriptionId,
    listed,
  );
  for await (const states of inBatches(list)) await verifyStates(run, slot, api, { states, askedAtMicros });
  return listed;
}

async function verifyStates(
  run: Verification,
  slot: Slot,
  api: PaymentApi,
  { states, askedAtMicros }: { states: readonly PaymentEvent[]; askedAtMicros: number },
): Promise<void> {
  const { database } = run.tools.intake;
  const ids = states.map(({ providerSubscriptionId }) => providerSubscriptionId as string);
  const stored = await findByProviderIds(database, slot, ids);
  const ownerOf = await findOwners(database, slot, states);
  await forEachConcurrently(states, async (state) => {
    const ours = stored.get(state.providerSubscriptionId as string);
    if (ours !== undefined) {
      run.check();
      await run.checkOrFail(slot, ours.providerSubscriptionId, () => compareStates(run, api, ours, state));
    } else if (ownerOf(state) === "present" && state.status !== "canceled") {
      run.check();
      await reportMissing(run, slot, { state, askedAtMicros });
    }
  });
}

async function verifyFetched(
  run: Verification,
  slot: Slot,
  api: PaymentApi,
  ours: Subscription,
): Promise<void> {
  const providerId = ours.providerSubscriptionId as string;
  const state = await api.fetchSubscription(providerId);
  run.check();
  if (state !== null) {
    await compareStates(run, api, ours, state);
    return;
  }
  const drift = { field: "providerSubscriptionId", ours: providerId, theirs: null };
  await reportDrift(run, ours, [drift]);
  if (run.options.repair) run.leave(slot, providerId, unclearStateSentence({ cause: "not_at_provider" }));
}

async function compareStates(
  run: Verification,
  api: PaymentApi,
  ours: Subscription,
  theirs: PaymentEvent,
): Promise<void> {
  const { plans, database } = run.tools.intake;
  if (subscriptionDrift(ours, theirs, plans).length === 0) return;
  // One of the two may have been read before an event that settles it.
  const providerId = ours.providerSubscriptionId as string;
  const now = await readTogether(
    () => findVersioned(database, ours.id),
    () => api.fetchSubscription(providerId),
  );
  if (now === "keeps_changing")
    return run.fail(ours.provider, providerId, unclearStateSentence({ cause: now }));
  if (now === null) return;
  if (now.theirs === null)
    return run.fail(ours.provider, providerId, unclearStateSentence({ cause: "not_at_provider" }));
  const drift = subscriptionDrift(now.ours, now.theirs, plans);
  if (drift.length === 0) return;
  await reportDrift(run, now.ours, drift);
  await repair(run, api, now.ours);
}

async function reportDrift(
  run: Verification,
  ours: Subscription,
  drift: readonly FieldDrift[],
): Promise<void> {
  const facts = {
    kind: "subscription",
    id: ours.id,
    slot: ours.provider,
    providerId: ours.providerSubscriptionId as string,
    lastEventId: await lastEventId(run.tools.intake.database, ours.id),
  } as const;
  for (const field of drift) run.drift({ ...facts, ...field });
}

function repair(run: Verification, api: PaymentApi, ours: Subscription): Promise<void> {
  return run.repairOrFail(ours, async () => {
    const { notify } = run.options;
    const options = { by: OPERATOR, audit: "changes", dryRun: false, notify } as const;
    const comparison = await compareById(run.tools.intake, api, ours.id, options);
    if (comparison === null) return;
    if (comparison.outcome === "left") {
      const reason = unclearStateSentence(comparison.because);
      run.leave(ours.provider, ours.providerSubscriptionId as string, reason);
    }
    // Else an event has corrected it meanwhile.
    else if (comparison.changes !== null) run.repaired();
  });
}

async function reportMissing(
  run: Verification,
  slot: Slot,
  { state, askedAtMicros }: { state: PaymentEvent; askedAtMicros: number },
): Promise<void> {
  const providerId = state.providerSubscriptionId as string;
  run.drift({
    kind: "subscription",
    id: null,
    slot,
    providerId,
    field: "status",
    ours: null,
    theirs: state.status,
    lastEventId: null,
  });
  await run.repairOrFail({ provider: slot, providerSubscriptionId: providerId }, async () => {
    const options = { askedAtMicros, by: OPERATOR, notify: run.options.notify };
    const adoption = await adopt(run.tools.intake, slot, state, options);
    if (adoption.outcome === "left") run.leave(slot, providerId, adoption.reason);
    else if (adoption.outcome === "adopted") run.repaired();
  });
}

async function* unlisted(
  subscriptions: AsyncIterable<Subscription>,
  listed: ReadonlySet<string>,
): AsyncGenerator<Subscription> {
  for await (const subscription of subscriptions)
    if (!listed.has(subscription.providerSubscriptionId as string)) yield subscription;
}
