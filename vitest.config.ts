import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { FailedFilesReporter } from "./test/support/failed-files-reporter.ts";
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
    // One more than a small machine has cores: tests wait for leases, servers and browsers a quarter of the time.
    maxWorkers: 3,
    pool: "forks",
    // For the tests' own processes: glibc keeps the 32 MB that hashing a password takes, instead of asking the kernel for them
    // each time, which took a third of the time of tests that sign in often. test/support/cleanup.ts keeps it from servers.
    // https://sourceware.org/glibc/manual/latest/html_node/Malloc-Tunable-Parameters.html
    env: {
      MALLOC_MMAP_THRESHOLD_: String(2 ** 30),
      MALLOC_TRIM_THRESHOLD_: String(2 ** 30),
      MALLOC_TOP_PAD_: String(2 ** 26),
    },
  },
});
