import { z } from "zod";
import { notFound } from "../../domain/refusals/refusal.ts";
import type { Queryable } from "../../store/database.ts";
import { historyOf } from "../../store/subscriptions/subscription-history.ts";
import { findSubscription } from "../../store/subscriptions/subscription-list.ts";
import { defineOperation } from "../operation.ts";
import { ChangesView } from "./changes-view.ts";
import { SubscriptionView } from "./subscription-view.ts";

/** For pages that have just had a subscription reconciled. */
export const showLastChange = defineOperation({
  name: "subscriptions.lastChange",
  summary: "Shows the last change of any user's subscription",
  access: "admin",
  limit: "admin",
  input: z.strictObject({ id: SubscriptionView.shape.id }),
  reasons: ["not_found"],
  output: z.object({
    at: z.date().nullable().describe("When it changed; `null`: it has not changed yet."),
    source: z
      .enum(["event", "reconcile"])
      .nullable()
      .describe("Whether a provider event or a comparison with the provider made the change."),
    changes: ChangesView.describe("The changed fields, each with its value before and after."),
  }),
  run: async (deps: { database: Queryable }, _caller, { id }) => {
    if (!(await findSubscription(deps.database, id))) {
      notFound("subscription");
    }
    const [latest] = await historyOf(deps.database, id, { before: null, limit: 1 });
    if (!latest) return { at: null, source: null, changes: {} };
    return { at: latest.at, source: latest.source, changes: latest.changes };
  },
});
