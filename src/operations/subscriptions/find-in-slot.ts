import { z } from "zod";
import { SLOTS } from "../../domain/slot.ts";
import type { Queryable } from "../../store/database.ts";
import { subscriptionsOfSlot } from "../../store/subscriptions/subscription-list.ts";
import { defineOperation } from "../operation.ts";
import { SubscriptionView } from "./subscription-view.ts";

const Ids = z.array(z.string().min(1).max(255)).max(1_000).default([]);

export const findInSlot = defineOperation({
  name: "subscriptions.findInSlot",
  summary: "Finds subscriptions of a slot by user id or provider id",
  access: "operator",
  limit: null,
  input: z.strictObject({ provider: z.enum(SLOTS), userIds: Ids, providerSubscriptionIds: Ids }),
  reasons: [],
  output: z.array(SubscriptionView),
  run: (deps: { database: Queryable }, _caller, { provider, ...ids }) =>
    subscriptionsOfSlot(deps.database, provider, ids),
});
