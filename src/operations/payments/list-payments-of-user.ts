import { z } from "zod";
import { UserId } from "../../domain/users/user-id.ts";
import type { Queryable } from "../../store/database.ts";
import { defineOperation } from "../operation.ts";
import { pageOf } from "../page.ts";
import { PAYMENT_FILTERS, PaymentView, pageOfPayments } from "./payment-view.ts";

export const listPaymentsOfUser = defineOperation({
  name: "payments.listOfUser",
  summary: "Lists a user's payments, newest first",
  access: "admin",
  limit: "admin",
  input: z.strictObject({ ...PAYMENT_FILTERS, userId: UserId }),
  reasons: [],
  output: pageOf(PaymentView),
  run: (deps: { database: Queryable }, _caller, { userId, ...query }) => pageOfPayments(deps, userId, query),
});
