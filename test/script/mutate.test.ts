import { execFile } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";

const SCRIPT = join(import.meta.dirname, "../../script/mutate.ts");

it("refuses a text that no fault contains, instead of running every test without a fault", async () => {
  const texts = ["the client loses", "no such fault"];
  const { code, stderr } = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
    execFile(process.execPath, [SCRIPT, ...texts], (error, _, stderr) =>
      resolve({ code: error?.code, stderr }),
    );
  });
  expect(code).toBe(2);
  expect(stderr).toContain('No fault\'s file or description contains "no such fault".');
});
