import { setTimeout as sleep } from "node:timers/promises";
import { isPaymentApiProblem } from "../domain/providers/payment-api-problem.ts";

const WAITS_MS = [1_000, 5_000, 30_000];

/**
 * Reads a page, again if its provider gave no answer: one slow response does not end an import of many pages.
 * The first page is read once, so that a wrong URL is reported at once.
 */
export async function readPage<Page>(
  { read }: { read(position: string | null): Promise<Page> },
  position: string | null,
): Promise<Page> {
  for (const waitMs of position === null ? [] : WAITS_MS) {
    try {
      return await read(position);
    } catch (error) {
      if (!isPaymentApiProblem(error) || error.failure !== "unreachable") throw error;
      await sleep(waitMs);
    }
  }
  return read(position);
}
