import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { FailedFilesReporter } from "./test/support/failed-files-reporter.ts";
import { KEPT_MEMORY } from "./test/support/kept-memory.ts";
import { LongestFirstSequencer } from "./test/support/longest-first-sequencer.ts";
import { SlowestFilesReporter } from "./test/support/slowest-files-reporter.ts";

export default defineConfig({
  // As Node resolves it: the package's other build, which Vite would choose for our files, is another library to its peers.
  resolve: { alias: [{ find: /^graphql$/, replacement: fileURLToPath(import.meta.resolve("graphql")) }] },
  test: {
    include: ["test/**/*.test.ts"],
    setupFiles: ["test/support/cleanup.ts"],
    globalSetup: ["test/support/postgres.ts"],
    // Vitest's own summary comes last.
    reporters: [new FailedFilesReporter(), new SlowestFilesReporter(), "default"],
    sequence: { sequencer: LongestFirstSequencer },
    // Long enough for a busy machine: no test may fail because it was slow.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Crash tests start servers of their own: more workers than cores only make everything wait.
    maxWorkers: 2,
    pool: "forks",
    env: KEPT_MEMORY,
  },
});
