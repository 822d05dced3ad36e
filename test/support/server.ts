import { readConfig } from "../../src/config/config.ts";
import type { Milestone } from "../../src/intake/intake.ts";
import { createLog } from "../../src/observability/log.ts";
import { type RunningServer, startServer } from "../../src/server.ts";
import { serverVariables } from "./variables.ts";

/** The whole server inside the test's process, on a free port. */
export async function startTestServer(
  databaseUrl: string,
  variables: Record<string, string> = {},
  reached?: (milestone: Milestone) => void | Promise<void>,
): Promise<RunningServer> {
  const environment = readConfig({
    ...serverVariables(databaseUrl),
    LOG_LEVEL: "silent",
    ...variables,
  });
  return startServer(environment, { log: createLog(environment.logLevel), ...(reached ? { reached } : {}) });
}
