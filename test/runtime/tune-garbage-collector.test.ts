import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

const MODULE = new URL("../../src/runtime/tune-garbage-collector.ts", import.meta.url).href;

/** V8 only prints what it makes of a flag. */
function printedWhenRun(script: string): string {
  return execFileSync(
    "sh",
    ["-c", 'exec "$0" --input-type=module --eval "$1" 2>&1', process.execPath, script],
    {
      encoding: "utf8",
    },
  );
}

test("V8 knows all flags that tune the garbage collector", () => {
  const unknown = printedWhenRun(
    'import { setFlagsFromString } from "node:v8"; setFlagsFromString("--no-such-flag")',
  );
  expect(unknown).toContain("unrecognized flag");
  const tuned = `import { tuneGarbageCollector } from "${MODULE}"; tuneGarbageCollector()`;
  expect(printedWhenRun(tuned)).toBe("");
});
