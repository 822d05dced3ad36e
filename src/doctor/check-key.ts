import { type PaymentApi, PaymentApiProblem } from "../domain/payment-api.ts";
import type { Slot } from "../domain/slot.ts";
import { broken, type Finding, good } from "./finding.ts";
import { reasonOf } from "./probe.ts";

/** Asks the provider for a subscription that does not exist: only a valid key gets that response. */
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
    // The key was accepted, and the id was not.
    const isAccepted =
      error.failure === "missing" ||
      (error.failure === "rejected" && /answered 4(?:00|22)\b.*: "/.test(error.message));
    if (!isAccepted) return refusedBy(check, error, isSimulated);
  }
  return good(check, isSimulated ? "the simulator accepts it" : "the provider accepts it");
}

/** The message of a PaymentApiProblem ends in a sentence that says what to do. */
function refusedBy(check: string, { failure, message }: PaymentApiProblem, isSimulated: boolean): Finding {
  const remedy = isSimulated
    ? "Start the server, which runs the simulator; or set the slot's API key."
    : (/[.:] ([A-Z][^.]*\.)$/.exec(message)?.[1] ?? "Check the slot's API key and API URL.");
  return broken(check, `${failure}: ${message.replace(remedy, "").trim()}`, remedy);
}
