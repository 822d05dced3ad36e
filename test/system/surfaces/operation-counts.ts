import { sendRequest } from "../../support/http.ts";

export const METRICS_TOKEN = "a-token-for-the-metrics";

/** How often each operation has ended how, by the server's own count: `users.me ok`. */
export type OperationCounts = Record<string, number>;

export async function readOperationCounts(serverUrl: string): Promise<OperationCounts> {
  const { text } = await sendRequest(serverUrl, "GET", "/api/metrics", { key: METRICS_TOKEN });
  const counted = text.matchAll(
    /^tollgate_operations_total\{operation="([^"]+)",outcome="([^"]+)"\} (\d+)$/gm,
  );
  return Object.fromEntries([...counted].map(([, name, outcome, n]) => [`${name} ${outcome}`, Number(n)]));
}

export function increaseOf(before: OperationCounts, after: OperationCounts): OperationCounts {
  const increases = Object.entries(after).map(([name, n]) => [name, n - (before[name] ?? 0)] as const);
  return Object.fromEntries(increases.filter(([, n]) => n > 0));
}

export function countOne(counts: OperationCounts, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}
