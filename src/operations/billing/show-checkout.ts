import { z } from "zod";
import type { Queryable } from "../../store/database.ts";
import { checkoutState } from "../../store/subscriptions/checkouts.ts";
import { defineOperation } from "../operation.ts";

export const showCheckout = defineOperation({
  name: "billing.checkout",
  summary: "Shows what has become of the caller's last checkout",
  access: "person",
  limit: "api",
  input: z.strictObject({}),
  reasons: [],
  output: z.object({
    state: z
      .enum(["none", "open", "paid"])
      .describe("`paid`: a subscription of the caller has become known since it was opened."),
  }),
  run: async ({ database }: { database: Queryable }, { userId }) => ({
    state: await checkoutState(database, userId),
  }),
});
