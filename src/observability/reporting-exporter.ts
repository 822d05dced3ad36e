import type { SpanExporter } from "@opentelemetry/sdk-trace";
import type { Log } from "./log.ts";
import { traceContext } from "./trace-context.ts";

const REPORT_EVERY_MS = 5 * 60 * 1000;

/**
 * Logs the first failed export and then, while they fail, one line every five minutes. The spans are lost.
 */
export function reportingExporter(
  exporter: SpanExporter,
  log: Log,
  now = () => performance.now(),
): SpanExporter {
  let lostSpans = 0;
  let reportedAtMs: number | null = null;
  const report = (count: number, error: Error | undefined) => {
    lostSpans += count;
    if (reportedAtMs !== null && now() < reportedAtMs + REPORT_EVERY_MS) return;
    const facts = { lostSpans, reason: error?.message ?? "no answer" };
    // The timer of an export belongs to the request that started it.
    traceContext.exit(() => log.warn(facts, "traces could not be exported; requests are not affected"));
    reportedAtMs = now();
    lostSpans = 0;
  };
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.code === EXPORTED) {
          if (reportedAtMs !== null) traceContext.exit(() => log.info("traces are exported again"));
          reportedAtMs = null;
        } else {
          report(spans.length, result.error);
        }
        done({ code: EXPORTED });
      }),
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}

/** `ExportResultCode.SUCCESS`. */
const EXPORTED = 0;
