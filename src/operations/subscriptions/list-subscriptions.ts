import { z } from "zod";
import type { Queryable } from "../../store/database.ts";
import { subscriptionsOfUser } from "../../store/subscriptions/subscription-list.ts";
import { defineOperation } from "../operation.ts";
import { PAGE, pageOf, readPage } from "../page.ts";
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
  run: (deps: { database: Queryable }, { userId }, page) =>
    readPage(page, (before, limit) => subscriptionsOfUser(deps.database, userId, { before, limit })),
});
