import { z } from "zod";
import { type Caller, isAdministrator } from "../../domain/callers/caller.ts";
import { notFound } from "../../domain/refusals/refusal.ts";
import { CHANGE_KINDS, kindOf } from "../../domain/subscriptions/changes.ts";
import { withPurchasedSeats } from "../../domain/subscriptions/purchased-seats.ts";
import type { Queryable } from "../../store/database.ts";
import { historyOf } from "../../store/subscriptions/subscription-history.ts";
import { findSubscription } from "../../store/subscriptions/subscription-list.ts";
import { defineOperation } from "../operation.ts";
import { PAGE, pageOf, readPage } from "../page.ts";
import { ChangesView } from "./changes-view.ts";
import { SubscriptionView } from "./subscription-view.ts";

const Entry = z
  .object({
    id: z.string().describe("The entry's id."),
    at: z.date().describe("When it changed."),
    source: z
      .enum(["event", "reconcile"])
      .describe("Whether a provider event or a comparison with the provider made the change."),
    eventType: z.string().nullable().describe("The provider's name of the event; `null` for a comparison."),
    deliveryId: z.string().nullable().describe("The event's delivery; shown to administrators only."),
    kind: z.enum(CHANGE_KINDS).describe("What the change means."),
    changes: ChangesView.describe("The changed fields, each with its value before and after."),
  })
  .meta({ id: "HistoryEntry", description: "A change of a subscription." });

export const showHistory = defineOperation({
  name: "subscriptions.history",
  summary: "Lists the changes of one of the caller's subscriptions, newest first",
  access: "person",
  permission: "subscriptions:read",
  limit: "api",
  input: z.strictObject({ ...PAGE, id: SubscriptionView.shape.id }),
  reasons: ["not_found"],
  output: pageOf(Entry),
  run: async (deps: { database: Queryable }, caller, { id, ...page }) => {
    const subscription = await findSubscription(deps.database, id);
    // Another user's is refused like an unknown one: the response must not reveal which ids exist.
    if (!subscription || !isTheirs(subscription, caller)) {
      notFound("subscription");
    }
    const { items, nextCursor } = await readPage(
      page,
      (before, limit) => historyOf(deps.database, id, { before, limit }),
      (entryId) => /^(event|reconcile)-[\d-]{1,40}$/.test(entryId),
    );
    return {
      items: items.map(({ deliveryId, changes, ...entry }) => ({
        ...entry,
        deliveryId: isAdministrator(caller) ? deliveryId : null,
        kind: kindOf(changes),
        changes: withPurchasedSeats(changes),
      })),
      nextCursor,
    };
  },
});

/** Administrators see their own, as everybody does; the operator has no subscriptions and sees any. */
function isTheirs({ userId }: { userId: string | null }, caller: Caller): boolean {
  if (caller.kind === "operator") return true;
  return "userId" in caller && caller.userId === userId;
}
