import { eventually } from "../support/eventually.ts";
import { sendRequest } from "../support/http.ts";

/** `RATE_LIMIT_API` of the servers, which have one trusted proxy. */
export const SHARED_LIMIT = { RATE_LIMIT_API: "6/3600", TRUSTED_PROXIES: "1" };
const LIMIT = 6;

let clients = 0;

/** How many of twice the limit each of the servers together admits to a client that is new to them. */
export async function admitted(urls: readonly string[]): Promise<number> {
  clients += 1;
  const address = `192.0.2.${clients % 250}, 198.51.100.${(clients >> 8) % 250}, 203.0.${clients >> 8}.${clients & 255}`;
  const statuses = await Promise.all(
    urls.flatMap((url) =>
      Array.from({ length: 2 * LIMIT }, async () => {
        const { status } = await sendRequest(url, "GET", "/api/plans", {
          headers: { "x-forwarded-for": address },
        });
        return status;
      }),
    ),
  );
  if (statuses.some((status) => status !== 200 && status !== 429)) throw new Error(statuses.join());
  return statuses.filter((status) => status === 200).length;
}

/** What the contract allows while Redis does not answer: each server counts by itself. */
export function withoutRedis(urls: readonly string[]): { atLeast: number; atMost: number } {
  return { atLeast: LIMIT, atMost: LIMIT * urls.length };
}

/**
 * Resolves once the servers count together. A server that waits too long for Redis, as on a busy machine,
 * counts by itself.
 */
export async function untilCountsAreShared(urls: readonly string[]): Promise<void> {
  await eventually(() => admitted(urls), LIMIT, 120_000);
}
