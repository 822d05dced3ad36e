import { describe, expect, it } from "vitest";
import type { SamplerName } from "../../src/domain/tracing.ts";
import { createTracing } from "../../src/observability/create-tracing.ts";
import { createLog } from "../../src/observability/log.ts";
import { reportingExporter } from "../../src/observability/reporting-exporter.ts";
import { startTracing } from "../../src/observability/start-tracing.ts";
import { cleanedUp } from "../support/cleanup.ts";
import { type OtlpReceiver, startOtlpReceiver } from "../support/otlp-receiver.ts";

const SAMPLED = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const NOT_SAMPLED = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";

async function collector(): Promise<OtlpReceiver> {
  const receiver = await startOtlpReceiver();
  cleanedUp(receiver.close);
  return receiver;
}

function tracingTo(receiver: OtlpReceiver, sampler: SamplerName = "always_on", ratio = 1) {
  return createTracing(
    {
      endpoint: receiver.url,
      headers: {},
      serviceName: "tollgate",
      attributes: {},
      sampler: { name: sampler, ratio },
      scheduleDelayMs: 600_000,
    },
    createLog("silent"),
  );
}

describe("traces", () => {
  it("loads nothing and is null without a collector", async () => {
    expect(await startTracing(null, createLog("silent"))).toBeNull();
  });

  it("exports finished spans when it is closed", async () => {
    const receiver = await collector();
    const tracing = tracingTo(receiver);
    await tracing.run("outer", { kind: "internal", parent: "none" }, async () =>
      tracing.run("inner", { kind: "internal", parent: "active" }, async () => {}),
    );
    expect(receiver.spans).toEqual([]);
    await tracing.close();
    const [inner, outer] = receiver.spans;
    expect(receiver.spans.map(({ name }) => name)).toEqual(["inner", "outer"]);
    expect(inner?.parentSpanId).toBe(outer?.spanId);
  });

  it("marks a failed span with the class of its error, without the message", async () => {
    const receiver = await collector();
    const tracing = tracingTo(receiver);
    const failing = tracing.run("failing", { kind: "internal", parent: "none" }, async () => {
      throw new TypeError("quotes person@example.com");
    });
    await expect(failing).rejects.toThrow("quotes");
    await tracing.close();
    expect(receiver.spans[0]).toMatchObject({ isError: true, attributes: { "error.type": "TypeError" } });
    expect(receiver.requests[0]?.bytes.includes("quotes")).toBe(false);
  });

  it.each<[SamplerName, ratio: number, sampledParent: number, unsampledParent: number, noParent: number]>([
    ["parentbased_always_on", 1, 1, 0, 1],
    ["parentbased_always_off", 1, 1, 0, 0],
    ["parentbased_traceidratio", 0, 1, 0, 0],
    ["always_on", 1, 1, 1, 1],
    ["always_off", 1, 0, 0, 0],
    ["traceidratio", 0, 0, 0, 0],
    ["traceidratio", 1, 1, 1, 1],
  ])("samples with %s and %d", async (sampler, ratio, sampledParent, unsampledParent, noParent) => {
    for (const [traceparent, expected] of [
      [SAMPLED, sampledParent],
      [NOT_SAMPLED, unsampledParent],
      [undefined, noParent],
    ] as const) {
      const receiver = await collector();
      const tracing = tracingTo(receiver, sampler, ratio);
      const request = new Request("http://localhost/", traceparent ? { headers: { traceparent } } : {});
      await tracing.traceFetch(request, async () => new Response());
      await tracing.close();
      expect([traceparent, receiver.spans.length]).toEqual([traceparent, expected]);
    }
  });

  it("closes although the collector does not answer", async () => {
    const receiver = await collector();
    receiver.status = null;
    const tracing = tracingTo(receiver);
    tracing.start("unheard", { kind: "internal", parent: "none" }).end();
    await tracing.close();
    expect(receiver.requests).toHaveLength(1);
  });

  it("logs failed exports every five minutes, with the number of lost spans", () => {
    const lines: { msg: string; lostSpans?: number }[] = [];
    let minutes = 0;
    let code = 1;
    const exporter = reportingExporter(
      {
        export: (_, done) => done({ code, error: new Error("refused") }),
        shutdown: async () => {},
      },
      createLog("info", { write: (line) => void lines.push(JSON.parse(line)) }),
      () => minutes * 60_000,
    );
    const send = () => exporter.export([{}, {}] as never, () => {});
    send();
    minutes = 4;
    send();
    minutes = 6;
    send();
    code = 0;
    send();
    send();
    expect(lines.map(({ msg, lostSpans }) => [msg, lostSpans])).toEqual([
      ["traces could not be exported; requests are not affected", 2],
      ["traces could not be exported; requests are not affected", 4],
      ["traces are exported again", undefined],
    ]);
  });
});
