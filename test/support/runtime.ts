import { readConfig } from "../../src/config/config.ts";
import { createLog } from "../../src/observability/log.ts";
import { type Runtime, type RuntimeOptions, startRuntime } from "../../src/runtime/runtime.ts";
import { serverVariables } from "./variables.ts";

/** What a server does without HTTP, inside the test's process. */
export function startTestRuntime(
  databaseUrl: string,
  variables: Record<string, string> = {},
  options: Partial<RuntimeOptions> = {},
): Promise<Runtime> {
  const config = readConfig({ ...serverVariables(databaseUrl), ...variables });
  return startRuntime(config, { log: createLog("silent"), ...options });
}
