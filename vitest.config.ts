import { existsSync, readFileSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { FailedFilesReporter } from "./test/support/failed-files-reporter.ts";
import { LongestFirstSequencer } from "./test/support/longest-first-sequencer.ts";
import { SlowestFilesReporter } from "./test/support/slowest-files-reporter.ts";
import { PROCESS_VARIABLES } from "./test/support/variables.ts";

// On a disk, a database takes ten times the processor time to copy, and every commit waits. No test cuts the power: what a
// killed process has written stays in memory too.
process.env.TMPDIR ??= holdsTests("/dev/shm") ? "/dev/shm" : tmpdir();

export default defineConfig({
  resolve: {
    alias: [
      // As Node resolves it: the package's other build, which Vite would choose for our files, is another library to its peers.
      { find: /^graphql$/, replacement: fileURLToPath(import.meta.resolve("graphql")) },
      // As src/auth/load-accounts.ts loads it: Vite would choose the build that takes a second longer.
      {
        find: /^drizzle-orm\/(.*)$/,
        replacement: join(import.meta.dirname, "node_modules/drizzle-orm/$1/index.cjs"),
      },
    ],
  },
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
    // Code that was compiled before is not compiled again for each file.
    // For the tests' own processes: glibc keeps the 32 MB that hashing a password takes, instead of asking the kernel for them
    // each time, which took a third of the time of tests that sign in often. test/support/cleanup.ts keeps it from servers.
    // https://sourceware.org/glibc/manual/latest/html_node/Malloc-Tunable-Parameters.html
    env: {
      NODE_COMPILE_CACHE: PROCESS_VARIABLES.NODE_COMPILE_CACHE,
      MALLOC_MMAP_THRESHOLD_: String(2 ** 30),
      MALLOC_TRIM_THRESHOLD_: String(2 ** 30),
      MALLOC_TOP_PAD_: String(2 ** 26),
    },
  },
});

/** Whether it is a file system in memory, with room for the tests' databases, from which programs can be run. */
function holdsTests(folder: string): boolean {
  const mounts = existsSync("/proc/mounts") ? readFileSync("/proc/mounts", "utf8").split("\n") : [];
  const mount = mounts.find((line) => line.includes(` ${folder} tmpfs `));
  if (mount === undefined || /\bnoexec\b/.test(mount)) return false;
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize >= 4 * 2 ** 30;
}
