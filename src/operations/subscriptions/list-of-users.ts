import { z } from "zod";
import { isAdministrator } from "../../domain/callers/caller.ts";
import { notFound } from "../../domain/refusals/refusal.ts";
import type { Queryable } from "../../store/database.ts";
import { subscriptionsOfUsers } from "../../store/subscriptions/subscription-list.ts";
import { defineOperation } from "../operation.ts";
import { SubscriptionView } from "./subscription-view.ts";

/** More are on the pages of `listSubscriptions`. */
export const NEWEST_PER_USER = 10;

/**
 * For surfaces that show people with what they have subscribed to: as many as a page holds, at the cost of
 * one call.
 */
export const listOfUsers = defineOperation({
  name: "subscriptions.listOfUsers",
  summary:
    "Lists the newest subscriptions of several users, for administrators; for others, only the caller's",
  access: "person",
  limit: "api",
  input: z.strictObject({ userIds: z.array(z.string().min(1).max(255)).min(1).max(100) }),
  reasons: ["not_found"],
  output: z.array(z.array(SubscriptionView)).describe("In the order of the ids."),
  run: async (deps: { database: Queryable }, caller, { userIds }) => {
    // Answered as if there were nobody else: ids must not tell who there is.
    if (!isAdministrator(caller) && userIds.some((id) => id !== caller.userId)) {
      notFound("user");
    }
    const subscriptions = await subscriptionsOfUsers(deps.database, [...new Set(userIds)], {
      perUser: NEWEST_PER_USER,
    });
    return userIds.map((id) => subscriptions.get(id) ?? []);
  },
});
