import { changedEntitlements, type StoredChange } from "../domain/entitlement-change.ts";
import type { ShownEntitlements } from "../domain/entitlements.ts";
import type { PlanCatalog } from "../domain/plan.ts";
import type { Queryable } from "../store/database.ts";
import { entitlementFacts } from "../store/entitlement-facts.ts";
import type { PositionedEvent, WrittenEvent } from "../store/outbound-relay.ts";

type CompletedEvent = Omit<PositionedEvent, "position" | "id">;

/** Adds what writers leave out because it can be looked up later; `null`: it turns out that nothing changed. */
export async function completeEvents(
  transaction: Queryable,
  written: readonly WrittenEvent[],
  plans: Pick<PlanCatalog, "plans">,
): Promise<(CompletedEvent | null)[]> {
  const entitlementsBySeq = await findChangedEntitlements(transaction, written, plans);
  return written.map((event) => {
    const { seq, type, subject, occurredAt, data } = event;
    const common = { seq, type, subject, occurredAt };
    if (data === null) return { ...common, completed: null };
    const change = storedChange(event);
    if (change === null) return { ...common, completed: completedData({ ...event, data }) };
    const entitlements = entitlementsBySeq.get(seq) ?? null;
    if (entitlements === null) return null;
    const { userId } = change;
    return {
      ...common,
      completed: { userId, data: { userId, externalId: event.externalId, entitlements } },
    };
  });
}

/** Without a user: deleted before the event was relayed, so that nobody is left to have entitlements. */
type UserChange = { userId: string | null; change: StoredChange };

function storedChange({ type, data }: WrittenEvent): UserChange | null {
  return type === "entitlements.changed" && data !== null && "change" in data ? (data as UserChange) : null;
}

/** By `seq`; those of a user in one pass, as each one's state before is the state after the previous one. */
async function findChangedEntitlements(
  transaction: Queryable,
  written: readonly WrittenEvent[],
  plans: Pick<PlanCatalog, "plans">,
): Promise<Map<string, ShownEntitlements | null>> {
  type Change = { seq: string; change: StoredChange; writtenAt: Date };
  const changesByUser = new Map<string, Change[]>();
  for (const event of written) {
    const stored = storedChange(event);
    if (stored === null || stored.userId === null) continue;
    const changes = changesByUser.get(stored.userId) ?? [];
    changesByUser.set(stored.userId, changes);
    changes.push({ seq: event.seq, change: stored.change, writtenAt: event.occurredAt });
  }
  const entitlementsBySeq = new Map<string, ShownEntitlements | null>();
  if (changesByUser.size === 0) return entitlementsBySeq;
  const factsByUser = await entitlementFacts(transaction, [...changesByUser.keys()], (userId) =>
    (changesByUser.get(userId) ?? []).flatMap(({ change }) => (change.replaced ?? []).map(({ id }) => id)),
  );
  for (const [userId, changes] of changesByUser) {
    const facts = factsByUser.get(userId) ?? { subscriptions: [], usage: [] };
    const results = changedEntitlements(changes, facts, plans);
    for (const [index, { seq }] of changes.entries()) entitlementsBySeq.set(seq, results[index] ?? null);
  }
  return entitlementsBySeq;
}

type Shown = { userId?: string | null } & Record<string, unknown>;

function completedData({
  type,
  data,
  occurredAt,
  createdAt,
  externalId,
}: WrittenEvent & { data: Record<string, unknown> }) {
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
