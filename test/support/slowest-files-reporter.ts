import { relative } from "node:path";
import type { Reporter, TestModule } from "vitest/node";

const SHOWN = 15;
/** Runs of a few files show the times beside the files. */
const MIN_FILES = 30;

/** Prints which files of a whole run took longest. */
export class SlowestFilesReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    if (modules.length < MIN_FILES) return;
    const slowest = modules
      .map((module) => ({ file: relative(process.cwd(), module.moduleId), ms: module.diagnostic().duration }))
      .sort((a, b) => b.ms - a.ms)
      .slice(0, SHOWN);
    console.log("\n Slowest files");
    for (const { file, ms } of slowest) console.log(`${(ms / 1000).toFixed(1).padStart(8)} s  ${file}`);
  }
}
