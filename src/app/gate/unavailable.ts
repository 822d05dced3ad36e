import { Refusal } from "../../domain/refusals/refusal.ts";
import type { PageRequest } from "./page-request.ts";

/** Whether something that the service needs is away: nothing is wrong with the request, nor with our code. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof Refusal) return error.code === "unavailable";
  // By name: the bundled pages have their own copies of our classes.
  return error instanceof Error && (error.name === "DatabaseUnavailable" || isUnavailable(error.cause));
}

/**
 * Rethrows the error. If it means that something is unavailable, the response is a 503 unless the page
 * recovers.
 */
export function throwUnavailable({ setErrorStatus }: PageRequest): (error: unknown) => never {
  return (error) => {
    if (isUnavailable(error)) setErrorStatus("unavailable");
    throw error;
  };
}
