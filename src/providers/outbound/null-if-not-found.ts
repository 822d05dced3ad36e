import { PaymentApiProblem } from "../../domain/providers/payment-api-problem.ts";

/** `null` when the provider has no such object. */
export async function nullIfNotFound<Result>(call: () => Promise<Result>): Promise<Result | null> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof PaymentApiProblem && error.failure === "missing") return null;
    throw error;
  }
}
