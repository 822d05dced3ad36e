import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { withCounter, withPolledProgress, withProgress } from "../../../src/cli/output/progress.ts";
import { eventually } from "../../support/eventually.ts";

function terminalWith(isTTY: boolean) {
  let printed = "";
  const stderr = Object.assign(new PassThrough(), { isTTY });
  stderr.on("data", (chunk: Buffer) => {
    printed += chunk.toString();
  });
  return { terminal: { env: {}, stdout: new PassThrough(), stderr }, printed: () => printed };
}

describe("a progress bar", () => {
  it("shows how much is done, and estimates what is left", async () => {
    const { terminal, printed } = terminalWith(true);
    const result = await withProgress(terminal, async (progressed) => {
      progressed(50, 200);
      await eventually(async () => /25 % +50 of 200, about \S+ left/.test(printed()), true);
      return "done";
    });
    expect(result).toBe("done");
  });

  it("follows work that counts by itself", async () => {
    const { terminal, printed } = terminalWith(true);
    await withPolledProgress(terminal, { total: 8, done: () => 2 }, () =>
      eventually(async () => printed().includes("25 %   2 of 8"), true),
    );
  });

  it("is not shown when stderr is not a terminal", async () => {
    const { terminal, printed } = terminalWith(false);
    await withProgress(terminal, async (progressed) => progressed(50, 200));
    expect(printed()).toBe("");
  });
});

describe("a counter", () => {
  const count = (terminal: ReturnType<typeof terminalWith>["terminal"], end: () => void) =>
    withCounter(terminal, async (progressed) => {
      for (const read of [1, 9_999, 10_000, 20_001]) progressed(read);
      end();
    });

  it("is removed from a terminal, also before the sentence that says what failed", async () => {
    for (const end of [() => {}, () => expect.fail("the provider is away")]) {
      const { terminal, printed } = terminalWith(true);
      await count(terminal, end).catch(() => {});
      expect(printed()).toBe("\r1 read\r9999 read\r10000 read\r20001 read\r\u001b[K");
    }
  });

  it("takes a line for ten thousand elsewhere", async () => {
    const { terminal, printed } = terminalWith(false);
    await count(terminal, () => {});
    expect(printed()).toBe("10000 read\n20001 read\n");
  });
});
