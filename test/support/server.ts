import { readConfig } from "../../src/config/config.ts";
import { createLog } from "../../src/observability/log.ts";
import { type RunningServer, startServer } from "../../src/server.ts";
import { startHaproxy } from "./haproxy.ts";
import { findProgram } from "./installed-programs.ts";
import { spawnServer } from "./server-process.ts";
import { serverVariables } from "./variables.ts";

export type TestServer = RunningServer & {
  /** Of the processes that answer at `url`: one, unless `script/proof cluster` runs the suite. */
  processUrls: string[];
};

/** The whole server inside the test's process, on a free port. */
export async function startTestServer(
  databaseUrl: string,
  variables: Record<string, string> = {},
): Promise<TestServer> {
  const servers = Number(process.env.TEST_SERVERS ?? 1);
  if (servers > 1) return startBalanced(servers, databaseUrl, variables);
  const environment = readConfig({
    ...serverVariables(databaseUrl),
    LOG_LEVEL: "silent",
    ...variables,
  });
  const log = createLog(environment.logLevel);
  const server = await startServer(environment, { log });
  return { ...server, processUrls: [server.url] };
}

async function startBalanced(
  count: number,
  databaseUrl: string,
  variables: Record<string, string>,
): Promise<TestServer> {
  const servers = await Promise.all(
    Array.from({ length: count }, () =>
      spawnServer(databaseUrl, {
        LOG_LEVEL_ONCE_LISTENING: "silent",
        LIMITS_ANSWER_WITHIN_MS: "5000",
        ...variables,
      }),
    ),
  );
  const processUrls = servers.map(({ url }) => url);
  const ports = processUrls.map((url) => Number(new URL(url).port));
  const balancer = await startHaproxy(findProgram("haproxy") as string, ports);
  await balancer.untilUp(count);
  return {
    url: balancer.url,
    processUrls,
    simulatorUrl: null,
    close: async () => {
      await balancer.remove();
      await Promise.all(servers.map(({ end }) => end("SIGTERM")));
    },
  };
}
