import { unstable_rethrow } from "next/navigation";
import { currentRequest } from "./request.ts";

/** `null` when it cannot be read; the answer is a 503 then. Redirects and the like go on. */
export async function nullOnError<Value>(reading: Promise<Value>): Promise<Value | null> {
  try {
    return await reading;
  } catch (error) {
    unstable_rethrow(error);
    currentRequest().cannotServe();
    return null;
  }
}
