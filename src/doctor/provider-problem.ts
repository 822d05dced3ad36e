import type { PaymentApiProblem } from "../domain/providers/payment-api-problem.ts";
import { RefusedByProvider } from "../providers/outbound/problems.ts";

/** What a provider's error says, and apart from it what to do about it. */
export function providerProblem(error: PaymentApiProblem): { detail: string; remedy: string } {
  if (!(error instanceof RefusedByProvider))
    return { detail: error.message, remedy: "Check the slot's API key and API URL." };
  return { detail: error.message.replace(error.remedy, "").trim(), remedy: error.remedy };
}
