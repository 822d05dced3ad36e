import { cache } from "react";
import { showAccess } from "../../operations/subscriptions/show-access.ts";
import { read } from "../gate/read.ts";

/** Which of the user's running subscriptions give access, and what is paid for them; read once per page. */
export const access = cache(async () => (await read(showAccess, {})).items);

type Access = Awaited<ReturnType<typeof access>>[number];

type PaymentProblem = Access & { reason: "grace" | "grace_over" | "unpaid" | "refunded" | "disputed" };

/** Whether the person must know of a payment that is due or was taken back. */
export function hasPaymentProblem(access: Access): access is PaymentProblem {
  // A plan may give access while a payment is due: the sentence would deny it.
  if (access.reason === "unpaid" && access.hasAccess) return false;
  return ["grace", "grace_over", "unpaid", "refunded", "disputed"].includes(access.reason);
}
