import { type PaymentApi, PaymentApiProblem } from "../domain/payment-api.ts";
import type { Slot } from "../domain/slot.ts";
import { broken, type Finding, good } from "./finding.ts";
import { reasonOf } from "./look.ts";

/** Asks for a subscription that does not exist. */
export async function checkKey(
  slot: Slot,
  { isSimulated, api }: { isSimulated: boolean; api: PaymentApi },
): Promise<Finding> {
  const check = `${slot} key`;
  try {
    await api.fetchSubscription(api.traits.unknownSubscriptionId);
  } catch (error) {
    if (!(error instanceof PaymentApiProblem))
      return broken(check, reasonOf(error), "This is a defect: please report it.");
    // It has let us in, and did not like the id.
    const isIn =
      error.failure === "missing" ||
      (error.failure === "rejected" && /answered 4(?:00|22)\b.*: "/.test(error.message));
    if (!isIn) return refusedBy(check, error, isSimulated);
  }
  return good(check, isSimulated ? "the simulated provider takes it" : "the provider takes it");
}

/** Its message ends in a sentence that says what to do. */
function refusedBy(check: string, { failure, message }: PaymentApiProblem, isSimulated: boolean): Finding {
  const remedy = isSimulated
    ? "Start the server, which brings the simulated provider along; or set the slot's API key."
    : (/[.:] ([A-Z][^.]*\.)$/.exec(message)?.[1] ?? "Check the slot's API key and API URL.");
  return broken(check, `${failure}: ${message.replace(remedy, "").trim()}`, remedy);
}
