import { changedEntitlements, type StoredChange } from "../domain/entitlement-change.ts";
import type { PlanCatalog } from "../domain/plan.ts";
import type { Queryable } from "../store/database.ts";
import { type EntitlementFacts, entitlementFacts } from "../store/entitlement-facts.ts";
import type { PositionedEvent, WrittenEvent } from "../store/outbound-relay.ts";

type CompletedEvent = Omit<PositionedEvent, "position" | "id">;

/** Adds what the intake leaves out because it can be looked up later; `null`: it turns out that nothing changed. */
export async function completeEvents(
  transaction: Queryable,
  written: readonly WrittenEvent[],
  plans: Pick<PlanCatalog, "plans">,
): Promise<(CompletedEvent | null)[]> {
  const current = await currentFacts(transaction, written);
  return written.map((event) => {
    const { seq, type, subject, occurredAt } = event;
    const stored = storedChange(event);
    if (stored === null) return { seq, type, subject, occurredAt, ...completedData(event) };
    const { userId, change } = stored;
    const entitlements = changedEntitlements(change, current.get(seq) ?? null, plans, occurredAt);
    if (entitlements === null) return null;
    const data = { userId, externalId: event.externalId, entitlements };
    return { seq, type, subject, occurredAt, userId, data };
  });
}

type Stored = { userId: string | null; change: StoredChange };

function storedChange({ type, data }: WrittenEvent): Stored | null {
  return type === "entitlements.changed" && "change" in data ? (data as Stored) : null;
}

/**
 * Of the last event of each user, by `seq`: its transaction may not have seen one that was committed at the same time.
 */
async function currentFacts(
  transaction: Queryable,
  written: readonly WrittenEvent[],
): Promise<Map<string, EntitlementFacts>> {
  const seqs = new Map<string, string>();
  for (const event of written) {
    const userId = storedChange(event)?.userId;
    if (userId) seqs.set(userId, event.seq);
  }
  if (seqs.size === 0) return new Map();
  const facts = await entitlementFacts(transaction, [...seqs.keys()]);
  return new Map([...facts].map(([userId, found]) => [seqs.get(userId) as string, found]));
}

type Shown = { userId?: string | null } & Record<string, unknown>;

function completedData({ type, data, occurredAt, createdAt, externalId }: WrittenEvent) {
  // The event of a deletion has to name who it was.
  if (type === "user.deleted") return { userId: null, data };
  if (type.startsWith("user.")) return { userId: data.id as string, data };
  const {
    subscription,
    userId: named = null,
    externalId: _,
    ...rest
  } = data as Shown & { subscription?: Shown };
  const userId = subscription ? (subscription.userId ?? null) : named;
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
