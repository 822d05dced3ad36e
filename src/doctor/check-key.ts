import { errorText } from "../domain/error-text.ts";
import type { PaymentApi } from "../domain/providers/payment-api.ts";
import { PaymentApiProblem } from "../domain/providers/payment-api-problem.ts";
import type { Slot } from "../domain/slot.ts";
import { RefusedByProvider } from "../providers/outbound/problems.ts";
import { broken, type Finding, good } from "./finding.ts";
import { providerProblem } from "./provider-problem.ts";

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
      return broken(check, errorText(error), "This is a defect: please report it.");
    // The key was accepted, and the id was not.
    const isAccepted =
      error.failure === "missing" ||
      (error.failure === "rejected" &&
        error instanceof RefusedByProvider &&
        (error.refusedWith === 400 || error.refusedWith === 422));
    if (!isAccepted) return refusedBy(check, error, isSimulated);
  }
  return good(check, isSimulated ? "the simulator accepts it" : "the provider accepts it");
}

function refusedBy(check: string, error: PaymentApiProblem, isSimulated: boolean): Finding {
  const { detail, remedy } = providerProblem(error);
  const startSimulator = "Start the server, which runs the simulator; or set the slot's API key.";
  return broken(check, `${error.failure}: ${detail}`, isSimulated ? startSimulator : remedy);
}
