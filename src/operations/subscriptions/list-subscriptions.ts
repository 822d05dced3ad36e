import { z } from "zod";
import { isUuid } from "../../domain/uuid.ts";
import type { Queryable } from "../../store/database.ts";
import { subscriptionsOfUser } from "../../store/subscriptions/subscription-list.ts";
import { defineOperation } from "../operation.ts";
import { cutPage, PAGE, pageOf, positionOf } from "../page.ts";
import { SubscriptionView } from "./subscription-view.ts";

export const listSubscriptions = defineOperation({
  name: "subscriptions.list",
  summary: "Lists the caller's subscriptions, newest first",
  access: "person",
  permission: "subscriptions:read",
  limit: "api",
  input: z.strictObject(PAGE),
  reasons: [],
  output: pageOf(SubscriptionView),
  run: async (deps: { database: Queryable }, caller, { limit, cursor }) => {
    const rows = await subscriptionsOfUser(deps.database, caller.userId, {
      before: positionOf(cursor, isUuid),
      limit: limit + 1,
    });
    return cutPage(rows, limit);
  },
});
