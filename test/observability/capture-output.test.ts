import { afterEach, describe, expect, it } from "vitest";
import { captureOutput } from "../../src/observability/capture-output.ts";
import type { Log } from "../../src/observability/log.ts";

const FORGED = 'not found\n{"level":50,"msg":"forged"}';

let release = () => {};
afterEach(() => release());

function capture(context: (output: string) => Record<string, unknown> | null = () => ({})) {
  const lines: [string, Record<string, unknown>, string][] = [];
  let ms = 0;
  const log = Object.fromEntries(
    ["error", "warn", "info", "debug"].map((level) => [
      level,
      (fields: Record<string, unknown>, message: string) => lines.push([level, fields, message]),
    ]),
  ) as unknown as Log;
  release = captureOutput({ log, context, now: () => ms });
  return { lines, passTime: (by: number) => (ms += by) };
}

describe("captureOutput", () => {
  it("logs what is printed as one entry, line breaks included and colours removed", () => {
    const { lines } = capture();
    console.error("\u001b[31mImage\u001b[0m %s", FORGED);
    console.log("ready");
    expect(lines).toEqual([
      ["error", { output: `Image ${FORGED}` }, "output of a library"],
      ["info", { output: "ready" }, "output of a library"],
    ]);
  });

  it("logs what is written to the standard streams, and reports it as written", async () => {
    const { lines } = capture();
    await new Promise((written) => process.stderr.write(`${FORGED}\n`, written));
    process.stdout.write(Buffer.from("bytes"));
    release();
    expect(lines).toEqual([
      ["warn", { output: FORGED }, "output of a library"],
      ["info", { output: "bytes" }, "output of a library"],
    ]);
  });

  it("adds the request's fields, and drops entries that the context excludes", () => {
    const { lines } = capture((output) => (output.includes("refused") ? null : { requestId: "r1" }));
    console.error("refused");
    console.error("a defect");
    expect(lines).toEqual([["error", { requestId: "r1", output: "a defect" }, "output of a library"]]);
  });

  it("writes at most 20 entries in 10 seconds, then the number dropped", () => {
    const { lines, passTime } = capture();
    for (let n = 0; n < 100; n += 1) console.error("again");
    expect(lines).toHaveLength(20);
    passTime(10_000);
    console.error("later");
    expect(lines.slice(20)).toEqual([
      ["warn", { suppressed: 80 }, "output of libraries suppressed"],
      ["error", { output: "later" }, "output of a library"],
    ]);
    passTime(10_000);
    console.error("later still");
    expect(lines.slice(22)).toEqual([["error", { output: "later still" }, "output of a library"]]);
  });

  it("truncates very long output", () => {
    const { lines } = capture();
    console.error("x".repeat(1_000_000));
    expect(lines.map(([, { output }]) => String(output).length)).toEqual([4_000]);
  });
});
