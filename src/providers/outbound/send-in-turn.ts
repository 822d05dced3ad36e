import { isPaymentApiProblem, PaymentApiProblem } from "../../domain/providers/payment-api-problem.ts";

type Send = () => Promise<unknown>;

/**
 * Sends requests that make one change together, one after another.
 * @throws PaymentApiProblem `incomplete`, with the cause, when one fails after another has succeeded
 */
export async function sendInTurn(requests: readonly Send[]): Promise<void> {
  let isPartlyDone = false;
  for (const send of requests) {
    try {
      await send();
    } catch (error) {
      if (!isPartlyDone || !isPaymentApiProblem(error)) throw error;
      throw new PaymentApiProblem("incomplete", error.message, { cause: error });
    }
    isPartlyDone = true;
  }
}

/**
 * Withdraws a change that waits for the period's end, then makes another one.
 * @param withdraw `null`: none waits
 */
export async function afterWithdrawal(withdraw: Send | null, change: Send): Promise<void> {
  await withdraw?.();
  try {
    await change();
  } catch (error) {
    if (isPaymentApiProblem(error)) error.hasWithdrawnSchedule = withdraw !== null;
    throw error;
  }
}
