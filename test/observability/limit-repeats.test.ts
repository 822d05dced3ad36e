import { expect, it, vi } from "vitest";
import { limitRepeats } from "../../src/observability/limit-repeats.ts";

type Line = [level: string, fields: object, message: string];

function limited(windowMs: number) {
  const lines: Line[] = [];
  const write = (level: string) => (fields: object, message: string) =>
    void lines.push([level, fields, message]);
  const log = limitRepeats(
    { error: write("error"), warn: write("warn"), debug: write("debug") },
    { maxEntries: 2, windowMs },
  );
  return { lines, log };
}

it("writes some entries of each message, and all that are for debugging", () => {
  const { lines, log } = limited(60_000);
  for (let n = 0; n < 5; n += 1) {
    log.warn({ n }, "refused");
    log.debug({ n }, "accepted");
  }
  log.error({ n: 5 }, "failed");
  expect(lines.filter(([, , message]) => message === "refused")).toEqual([
    ["warn", { n: 0 }, "refused"],
    ["warn", { n: 1 }, "refused"],
  ]);
  expect(lines.filter(([level]) => level === "debug")).toHaveLength(5);
  expect(lines.at(-1)).toEqual(["error", { n: 5 }, "failed"]);
});

it("then says how many were suppressed, and writes again", async () => {
  const { lines, log } = limited(1);
  const rest: Line = ["warn", { entry: "refused", suppressed: 3 }, "repeated log entries suppressed"];
  for (let n = 0; n < 5; n += 1) log.warn({ n }, "refused");
  await vi.waitFor(() => expect(lines.slice(2)).toEqual([rest]), { timeout: 30_000 });
  log.warn({ n: 5 }, "refused");
  expect(lines.at(-1)).toEqual(["warn", { n: 5 }, "refused"]);
});

it("counts entries apart that have errors of different classes", () => {
  const { lines, log } = limited(60_000);
  for (let n = 0; n < 5; n += 1) log.error({ err: new RangeError("often") }, "failed");
  const err = new TypeError("a defect");
  log.error({ err }, "failed");
  expect(lines).toHaveLength(3);
  expect(lines.at(-1)).toEqual(["error", { err }, "failed"]);
});
