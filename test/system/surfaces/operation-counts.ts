import { sendRequest } from "../../support/http.ts";

export const METRICS_TOKEN = "a-token-for-the-metrics";

/** How often each operation had each outcome, by the servers' own metrics: `users.me ok`. */
export type OperationCounts = Record<string, number>;

/** Of all processes together. */
export async function readOperationCounts(processUrls: readonly string[]): Promise<OperationCounts> {
  const counts: OperationCounts = {};
  for (const url of processUrls) {
    const { text } = await sendRequest(url, "GET", "/api/metrics", { key: METRICS_TOKEN });
    const counted = text.matchAll(
      /^tollgate_operations_total\{operation="([^"]+)",outcome="([^"]+)"\} (\d+)$/gm,
    );
    for (const [, name, outcome, n] of counted) {
      counts[`${name} ${outcome}`] = (counts[`${name} ${outcome}`] ?? 0) + Number(n);
    }
  }
  return counts;
}

export function increaseOf(before: OperationCounts, after: OperationCounts): OperationCounts {
  const increases = Object.entries(after).map(([name, n]) => [name, n - (before[name] ?? 0)] as const);
  return Object.fromEntries(increases.filter(([, n]) => n > 0));
}

export function countOne(counts: OperationCounts, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}
