import { changedEntitlements, type StoredChange } from "../domain/entitlements/entitlement-change.ts";
import type { AccessContext } from "../domain/entitlements/granted-access.ts";
import type { ShownEntitlements } from "../domain/entitlements/shown-entitlements.ts";
import { userChanges } from "../domain/entitlements/user-changes.ts";
import { isoText } from "../domain/iso-text.ts";
import type { Queryable } from "../store/database.ts";
import { entitlementFacts } from "../store/entitlements/entitlement-facts.ts";
import type { CompleteEvent } from "../store/outbound/outbound-relay.ts";
import type { Written, WrittenChange, WrittenEvent } from "../store/outbound/written-events.ts";

/** An event, or what may have changed a user's entitlements and becomes one if it has. */
type Draft = CompleteEvent | EntitlementDraft;

type ChangedEntitlements = { entitlements: ShownEntitlements; isPastDue: boolean };

type EntitlementDraft = {
  seq: string | null;
  occurredAt: Date;
  userId: string;
  externalId: string | null;
  change: StoredChange;
};

/** The events that result from what was written, in its order, with what writers leave out. */
export async function completeEvents(
  transaction: Queryable,
  written: readonly Written[],
  context: AccessContext,
): Promise<CompleteEvent[]> {
  const drafts = written.flatMap((item) =>
    item.kind === "event" ? draftOfEvent(item) : draftsOfChange(item),
  );
  const entitlements = await findChangedEntitlements(transaction, drafts.filter(isOfEntitlements), context);
  return drafts.flatMap((draft) => {
    if (!isOfEntitlements(draft)) return draft;
    const changed = entitlements.get(draft);
    return changed === undefined ? [] : entitlementEvent(draft, changed);
  });
}

function isOfEntitlements(draft: Draft): draft is EntitlementDraft {
  return "change" in draft;
}

function draftsOfChange({ type, occurredAt, createdAt, before, after, externalIds }: WrittenChange): Draft[] {
  const drafts: Draft[] = [];
  const { userId } = after;
  if (type !== null) {
    const externalId = userId === null ? null : (externalIds.get(userId) ?? null);
    // Times as text: with `Date`s, JSON.stringify takes ten times as long.
    const subscription = {
      ...after,
      currentPeriodEnd: after.currentPeriodEnd && isoText(after.currentPeriodEnd),
      createdAt: isoText(createdAt),
      updatedAt: isoText(occurredAt),
    };
    const data = { userId, externalId, subscription };
    drafts.push({ seq: null, type, subject: after.id, occurredAt, userId, data });
  }
  for (const { userId, replaced } of userChanges({ before, after })) {
    const externalId = externalIds.get(userId) ?? null;
    drafts.push({ seq: null, occurredAt, userId, externalId, change: { replaced } });
  }
  return drafts;
}

function draftOfEvent(event: WrittenEvent): Draft[] {
  const { seq, type, subject, occurredAt, data, externalId } = event;
  if (type !== "entitlements.changed" || !("change" in data))
    return [{ seq, type, subject, occurredAt, ...completedData(event) }];
  // Without a user: deleted before the event was relayed, so that nobody is left to have entitlements.
  const { userId, change } = data as { userId: string | null; change: StoredChange };
  return userId === null ? [] : [{ seq, occurredAt, userId, externalId, change }];
}

function entitlementEvent(
  { seq, occurredAt, userId, externalId }: EntitlementDraft,
  { entitlements, isPastDue }: ChangedEntitlements,
): CompleteEvent {
  const until = entitlements.until && isoText(entitlements.until);
  const data = { userId, externalId, entitlements: { ...entitlements, until } };
  return { seq, type: "entitlements.changed", subject: null, occurredAt, userId, data, isPastDue };
}

/** Those of a user in one pass, as each one's state before is the state after the previous one. */
async function findChangedEntitlements(
  transaction: Queryable,
  drafts: readonly EntitlementDraft[],
  context: AccessContext,
): Promise<Map<EntitlementDraft, ChangedEntitlements>> {
  const entitlements = new Map<EntitlementDraft, ChangedEntitlements>();
  if (drafts.length === 0) return entitlements;
  const draftsByUser = Map.groupBy(drafts, ({ userId }) => userId);
  const factsByUser = await entitlementFacts(transaction, [...draftsByUser.keys()], (userId) =>
    (draftsByUser.get(userId) ?? []).flatMap(({ change }) => (change.replaced ?? []).map(({ id }) => id)),
  );
  for (const [userId, ofUser] of draftsByUser) {
    const facts = factsByUser.get(userId) ?? { subscriptions: [], usage: [] };
    const changes = ofUser.map(({ change, occurredAt }) => ({ change, writtenAt: occurredAt }));
    const results = changedEntitlements(changes, facts, context);
    const isPastDueNow = facts.subscriptions.some(({ status }) => status === "past_due");
    for (const [index, draft] of ofUser.entries()) {
      const result = results[index] ?? null;
      if (result === null) continue;
      const isPastDue = isPastDueNow || becamePastDue(draft);
      entitlements.set(draft, { entitlements: result, isPastDue });
    }
  }
  return entitlements;
}

function becamePastDue({ change }: EntitlementDraft): boolean {
  return (change.replaced ?? []).some(({ after }) => after?.status === "past_due");
}

type Shown = { userId?: string | null } & Record<string, unknown>;

function completedData({
  type,
  data,
  occurredAt,
  createdAt,
  externalId,
}: WrittenEvent): Pick<CompleteEvent, "userId" | "data"> {
  // The event of a deletion has to name who it was.
  if (type === "user.deleted") return { userId: null, data };
  if (type.startsWith("user.")) return { userId: data.id as string, data };
  const {
    subscription,
    userId: namedUserId = null,
    externalId: _,
    ...rest
  } = data as Shown & { subscription?: Shown };
  const userId = subscription ? (subscription.userId ?? null) : namedUserId;
  return {
    userId,
    data: {
      userId,
      externalId,
      ...(subscription ? { subscription: { ...subscription, createdAt, updatedAt: occurredAt } } : {}),
      ...rest,
    },
  };
}
