import { z } from "zod";
import type { Queryable } from "../../store/database.ts";
import { defineOperation } from "../operation.ts";
import { pageOf } from "../page.ts";
import { PAYMENT_FILTERS, PaymentView, pageOfPayments } from "./payment-view.ts";

export const listPayments = defineOperation({
  name: "payments.list",
  summary: "Lists the caller's payments, newest first",
  access: "person",
  permission: "subscriptions:read",
  limit: "api",
  input: z.strictObject(PAYMENT_FILTERS),
  reasons: [],
  output: pageOf(PaymentView),
  run: (deps: { database: Queryable }, { userId }, query) => pageOfPayments(deps, userId, query),
});
