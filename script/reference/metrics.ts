import { createMetrics } from "../../src/observability/metrics.ts";
import { code, table } from "./table.ts";

/** Our own metrics; those of the process are as Prometheus clients name them everywhere. */
export async function metricRows(): Promise<string> {
  const { read } = createMetrics({
    countFlagged: async () => [],
    outboundState: async () => ({
      failing: 0,
      disabled: 0,
      backlogSeconds: 0,
      unreadableChanges: 0,
      unreadableEvents: 0,
    }),
    askLimiter: () => null,
    refusedWithoutStore: [],
  });
  const { text } = await read();
  const types = new Map(matches(text, /^# TYPE (\S+) (\S+)$/gm));
  const rows = matches(text, /^# HELP (\S+) (.+)$/gm)
    .filter(([name]) => name.startsWith("tollgate_"))
    .map(([name, help]) => [code(name), types.get(name) ?? "", help]);
  return table(["metric", "type", "counts"], rows);
}

function matches(text: string, pattern: RegExp): [string, string][] {
  return [...text.matchAll(pattern)].map(([, first, second]) => [first as string, second as string]);
}
