import { userInfo } from "node:os";
import { join } from "node:path";
import { SCOPES } from "../../src/limits/policies.ts";

/** Secrets that every format accepts, longer than any requires. */
export const SECRETS = {
  "provider-a": "whsec_dGVzdC1zZWNyZXQtb2YtcHJvdmlkZXItYS4uLi4u",
  "provider-b": "whsec_dGVzdC1zZWNyZXQtb2YtcHJvdmlkZXItYi4uLi4u",
  "provider-c": "whsec_dGVzdC1zZWNyZXQtb2YtcHJvdmlkZXItYy4uLi4u",
} as const;

/** The environment of every process that tests start. The cache halves the time to load its modules. */
export const PROCESS_VARIABLES = {
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: ownFolder("tollgate-test-modules"),
};

/** What a server needs to run on a database that is not its own. */
export function serverVariables(databaseUrl: string): Record<string, string> {
  return {
    DATABASE_URL: databaseUrl,
    // `script/proof cluster` runs suites behind PgBouncer and on a Redis cluster.
    ...(process.env.TEST_DATABASE_PREPARED ? { DATABASE_PREPARED: process.env.TEST_DATABASE_PREPARED } : {}),
    ...(process.env.TEST_REDIS_URL ? { REDIS_URL: process.env.TEST_REDIS_URL } : {}),
    AUTH_SECRET: "only-for-tests-and-long-enough-to-be-taken",
    PROVIDER_A_WEBHOOK_SECRET: SECRETS["provider-a"],
    PROVIDER_B_WEBHOOK_SECRET: SECRETS["provider-b"],
    PROVIDER_C_WEBHOOK_SECRET: SECRETS["provider-c"],
    PORT: "0",
    // A test that turns it on also sets SIMULATOR_PORT=0 and its own DATA_DIR.
    SIMULATOR: "off",
    // Tests of flagged subscriptions and missed events must not race the jobs that correct them.
    SELF_HEAL: "off",
    RECONCILE: "off",
    // Mail and other files of a server: tests must not use the project's own folder.
    DATA_DIR: ownFolder("tollgate-test-data"),
  };
}

/** Limits that no test reaches by accident. */
export const GENEROUS_LIMITS: Record<string, string> = Object.fromEntries(
  SCOPES.map((scope) => [`RATE_LIMIT_${scope.replaceAll("-", "_").toUpperCase()}`, "100000/60"]),
);

/** A temporary folder on the disk that survives a run, apart from those of other users of the machine. */
export function ownFolder(name: string): string {
  return join("/var/tmp", `${name}-${userInfo().uid}`);
}
