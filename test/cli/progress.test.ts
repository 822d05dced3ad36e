import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { withPolledProgress, withProgress } from "../../src/cli/progress.ts";
import { eventually } from "../support/eventually.ts";

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
