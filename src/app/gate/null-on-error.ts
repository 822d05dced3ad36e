import { unstable_rethrow } from "next/navigation";
import { currentRequest } from "./request.ts";

/** `null` when it cannot be loaded; the response is then a 503. Redirects pass. */
export async function nullOnError<Value>(reading: Promise<Value>): Promise<Value | null> {
  try {
    return await reading;
  } catch (error) {
    unstable_rethrow(error);
    (await currentRequest()).cannotServe();
    return null;
  }
}
