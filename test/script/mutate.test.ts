import { execFile } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { FAULT_LISTS } from "../../script/faults/lists.ts";
import { plantingProblem } from "../../script/faults/planting-problem.ts";

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

it("can plant every fault, and finds the tests that have to notice it", () => {
  const problems = Object.values(FAULT_LISTS)
    .flat()
    .map((fault) => ({ file: fault.file, fault: fault.fault, problem: plantingProblem(fault) }));
  expect(problems.filter(({ problem }) => problem !== null)).toEqual([]);
});
