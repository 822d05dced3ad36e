import { sendRequest } from "../../support/http.ts";

export const METRICS_TOKEN = "a-token-for-the-metrics";

/** How often each operation has ended how, by the server's own count: `users.me ok`. */
export type Tally = Record<string, number>;

export async function tallyOf(serverUrl: string): Promise<Tally> {
  const { text } = await sendRequest(serverUrl, "GET", "/api/metrics", { key: METRICS_TOKEN });
  const counted = text.matchAll(
    /^tollgate_operations_total\{operation="([^"]+)",outcome="([^"]+)"\} (\d+)$/gm,
  );
  return Object.fromEntries([...counted].map(([, name, outcome, n]) => [`${name} ${outcome}`, Number(n)]));
}

export function grown(before: Tally, after: Tally): Tally {
  const grown = Object.entries(after).map(([name, n]) => [name, n - (before[name] ?? 0)] as const);
  return Object.fromEntries(grown.filter(([, n]) => n > 0));
}

export function count(tally: Tally, name: string): void {
  tally[name] = (tally[name] ?? 0) + 1;
}
