import { z } from "zod";
import type { Queryable } from "../../store/database.ts";
import { subscriptionsOutOfOrder } from "../../store/subscriptions/subscription-list.ts";
import { defineOperation } from "../operation.ts";
import { PAGE, pageOf, readPage } from "../page.ts";
import { UserView } from "../users/user-view.ts";
import { SubscriptionView } from "./subscription-view.ts";

const OutOfOrder = SubscriptionView.extend({
  user: z
    .object({ name: UserView.shape.name, email: UserView.shape.email })
    .nullable()
    .describe("The user it belongs to; `null` once the account has been deleted."),
}).meta({
  id: "OutOfOrderSubscription",
  description: "A subscription that needs review, with its user.",
});

export const listOutOfOrder = defineOperation({
  name: "subscriptions.outOfOrder",
  summary:
    "Lists subscriptions that need review because an older event changed them after a newer one; last changed first",
  access: "admin",
  limit: "admin",
  input: z.strictObject(PAGE),
  reasons: [],
  output: pageOf(OutOfOrder),
  run: async (deps: { database: Queryable }, _caller, page) => {
    const { items, nextCursor } = await readPage(page, (before, limit) =>
      subscriptionsOutOfOrder(deps.database, { before, limit }),
    );
    return {
      items: items.map(({ userName, userEmail, ...subscription }) => ({
        ...subscription,
        user: userName === null || userEmail === null ? null : { name: userName, email: userEmail },
      })),
      nextCursor,
    };
  },
});
