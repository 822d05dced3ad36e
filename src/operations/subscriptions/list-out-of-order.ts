import { z } from "zod";
import type { Queryable } from "../../store/database.ts";
import { subscriptionsOutOfOrder } from "../../store/subscription-list.ts";
import { defineOperation } from "../operation.ts";
import { PAGE, pageOf } from "../page.ts";
import { SubscriptionView } from "./subscription-view.ts";

const OutOfOrder = SubscriptionView.extend({
  user: z
    .object({ name: z.string(), email: z.string() })
    .nullable()
    .describe("`null` once the person has deleted the account."),
}).meta({ id: "OutOfOrderSubscription" });

export const listOutOfOrder = defineOperation({
  name: "subscriptions.outOfOrder",
  summary: "Subscriptions that an older event has changed after a newer one, until they are reconciled",
  access: "admin",
  limit: "admin",
  input: z.strictObject({
    ...PAGE,
    cursor: z.uuid("expected the nextCursor of the page before").nullable().default(null),
  }),
  output: pageOf(OutOfOrder),
  run: async (deps: { database: Queryable }, _caller, { limit, cursor }) => {
    const rows = await subscriptionsOutOfOrder(deps.database, { after: cursor, limit: limit + 1 });
    const items = rows.slice(0, limit).map(({ userName, userEmail, ...subscription }) => ({
      ...subscription,
      user: userName === null || userEmail === null ? null : { name: userName, email: userEmail },
    }));
    return { items, nextCursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
  },
});
