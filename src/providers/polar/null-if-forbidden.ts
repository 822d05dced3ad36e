import { PaymentApiProblem } from "../../domain/providers/payment-api-problem.ts";

/** `null`: the key lacks the scope, as keys that were made before it was needed do. */
export async function nullIfForbidden<Result>(call: () => Promise<Result>): Promise<Result | null> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof PaymentApiProblem && ["unauthorized", "missing"].includes(error.failure))
      return null;
    throw error;
  }
}
