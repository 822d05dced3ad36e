import { isPaymentApiProblem, PaymentApiProblem } from "../../domain/payment-api-problem.ts";

/**
 * Sends requests that make one change together, one after another.
 * @throws PaymentApiProblem `incomplete` when one fails after another has been made
 */
export async function sendInTurn(requests: readonly (() => Promise<unknown>)[]): Promise<void> {
  let isPartlyMade = false;
  for (const send of requests) {
    try {
      await send();
    } catch (error) {
      if (!isPartlyMade || !isPaymentApiProblem(error)) throw error;
      throw new PaymentApiProblem("incomplete", error.message, { cause: error });
    }
    isPartlyMade = true;
  }
}
