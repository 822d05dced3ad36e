import { z } from "zod";
import { refuse } from "../../domain/refusal.ts";
import type { Queryable } from "../../store/database.ts";
import { historyOf } from "../../store/subscription-history.ts";
import { findSubscription } from "../../store/subscription-list.ts";
import { defineOperation } from "../operation.ts";
import { ChangesView } from "./changes-view.ts";

/** For pages that have just had a subscription reconciled. */
export const showLastChange = defineOperation({
  name: "subscriptions.lastChange",
  summary: "The last change of any user's subscription",
  access: "admin",
  limit: "admin",
  input: z.strictObject({ id: z.uuid() }),
  reasons: ["not_found"],
  output: z.object({
    at: z.date().nullable().describe("`null`: it has not changed yet."),
    source: z.enum(["event", "reconcile"]).nullable(),
    changes: ChangesView,
  }),
  run: async (deps: { database: Queryable }, _caller, { id }) => {
    if (!(await findSubscription(deps.database, id))) {
      refuse({ reason: "not_found", params: { resource: "subscription" } });
    }
    const [latest] = await historyOf(deps.database, id, { before: null, limit: 1 });
    if (!latest) return { at: null, source: null, changes: {} };
    return { at: latest.at, source: latest.source, changes: latest.changes };
  },
});
