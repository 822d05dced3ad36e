import { randomUUID } from "node:crypto";
import { UNAVAILABLE_RETRY_AFTER_SECONDS } from "./retry-after.ts";

/**
 * Reports that an instance could not start, and returns the headers of the 503 that answers the request. To
 * stderr: the log needs the configuration, which may be what is wrong.
 */
export function notStarted(error: Error): Record<string, string> {
  const requestId = randomUUID();
  console.error(`${error.message} (request ${requestId})`);
  return {
    "x-request-id": requestId,
    "retry-after": `${UNAVAILABLE_RETRY_AFTER_SECONDS}`,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  };
}
