import { defineConfig } from "vitest/config";

export default defineConfig({
  // As Node resolves it: the package's other build, which Vite would choose for our files, is another library to its peers.
  resolve: { alias: [{ find: /^graphql$/, replacement: "graphql/index.js" }] },
  test: {
    include: ["test/**/*.test.ts"],
    setupFiles: ["test/support/cleanup.ts"],
    globalSetup: ["test/support/postgres.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Crash tests start servers of their own: more workers than cores only make everything wait.
    maxWorkers: 2,
    pool: "forks",
  },
});
