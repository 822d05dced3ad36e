import { type Failure, failureSentence } from "../../domain/deliveries/failures.ts";

/** JSON of a failure as the statements read it: `error`, `reason` and, if there are any, `params`. */
export function storedFailure(failure: Failure | null): string | null {
  return failure && JSON.stringify({ error: failureSentence(failure), ...failure });
}
