import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import type { Reporter, TestModule } from "vitest/node";

const FOLDER = "test-results";
const LIST = `${FOLDER}/failed-files.txt`;

/**
 * Lists the files that failed, one per line, for `script/test`; there is no list while a run is under way.
 */
export class FailedFilesReporter implements Reporter {
  onTestRunStart(): void {
    rmSync(LIST, { force: true });
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    // Without a list nothing is run again: an error outside of every test belongs to no file.
    if (errors.length > 0) return;
    const failed = modules.filter((module) => module.state() === "failed");
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(LIST, failed.map(({ moduleId }) => `${relative(process.cwd(), moduleId)}\n`).join(""));
  }
}
