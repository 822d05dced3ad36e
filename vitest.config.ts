import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    setupFiles: ["test/support/leftovers.ts"],
    globalSetup: ["test/support/postgres.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Crash tests start servers of their own: more workers than cores only make everything wait.
    maxWorkers: 2,
    pool: "forks",
  },
});
