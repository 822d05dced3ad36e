import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../src/store/database.ts";
import { migrate } from "../../src/store/migrate.ts";
import { cleanedUp } from "../support/cleanup.ts";
import { addUsers } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { sendRequest } from "../support/http.ts";
import { findPostgresPrograms, findProgram } from "../support/installed-programs.ts";
import { startPgBouncer } from "../support/pgbouncer.ts";
import type { TestRedis } from "../support/redis.ts";
import { startRedisCluster } from "../support/redis-cluster.ts";
import { type ServerProcess, spawnServer } from "../support/server-process.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import { type ReplicatedPostgres, startReplicatedPostgres } from "./replicated-postgres.ts";

export const CLUSTER_PROGRAMS = {
  postgresql: findPostgresPrograms(),
  pgbouncer: findProgram("pgbouncer"),
  "redis-server": findProgram("redis-server"),
  haproxy: findProgram("haproxy"),
};
type Programs = { [Name in keyof typeof CLUSTER_PROGRAMS]: string };

export type Cluster = {
  /** Of the load balancer. */
  url: string;
  servers: ServerProcess[];
  postgres: ReplicatedPostgres;
  /** Between PgBouncer and PostgreSQL: leads to the primary. */
  toPrimary: TcpProxy;
  /** Every database of the primary through PgBouncer. */
  pooledUrl: string;
  redis: TestRedis[];
  /** Ends a server as a deploy does, and starts it again once the load balancer has noticed. */
  restart(server: number): Promise<void>;
  remove(): Promise<void>;
};

/** Three servers behind HAProxy, PgBouncer over a replicated PostgreSQL, and a Redis cluster of three nodes. */
export async function startCluster(programs: Programs, variables: Record<string, string>): Promise<Cluster> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-cluster-"));
  await chmod(folder, 0o755);
  const postgres = await startReplicatedPostgres(programs.postgresql);
  await migrateAt(postgres.primary().url);
  await addUsers(postgres.primary(), 20);
  const toPrimary = await startTcpProxy(postgres.primary().port);
  const pooler = await startPgBouncer(programs.pgbouncer, folder, {
    postgresPort: toPrimary.port,
    poolSize: 20,
  });
  const redis = await startRedisCluster(programs["redis-server"]);
  const ports = [await freePort(), await freePort(), await freePort()];
  const start = (port: number) =>
    spawnServer(pooler.url, {
      PORT: String(port),
      DATABASE_PREPARED: "off",
      REDIS_URL: redis.map(({ url }) => url).join(","),
      TRUSTED_PROXIES: "1",
      ...variables,
    });
  const servers = await Promise.all(ports.map(start));
  const balancer = await startHaproxy(programs.haproxy, folder, ports);
  await balancer.untilUp(servers.length);
  return {
    url: balancer.url,
    servers,
    postgres,
    toPrimary,
    pooledUrl: pooler.url,
    redis,
    restart: async (index) => {
      const { code } = await (servers[index] as ServerProcess).end("SIGTERM");
      if (code !== 0) throw new Error(`a server ended with ${code}`);
      servers[index] = await start(ports[index] as number);
      await balancer.untilUp(servers.length);
    },
    remove: cleanedUp(async () => {
      for (const server of servers) await server.end("SIGTERM");
      balancer.process.kill("SIGKILL");
      pooler.kill();
      await postgres.remove();
      for (const node of redis) await node.remove();
      await rm(folder, { recursive: true, force: true });
    }),
  };
}

async function migrateAt(url: string): Promise<void> {
  const database = openDatabase({ url, prepared: false, maxConnections: 2, answerTimeoutMs: 60_000 });
  try {
    await migrate(database);
  } finally {
    await database.close();
  }
}

async function startHaproxy(program: string, folder: string, ports: readonly number[]) {
  const [port, statusPort, settings] = [await freePort(), await freePort(), join(folder, "haproxy.cfg")];
  await writeFile(
    settings,
    `defaults
  mode http
  timeout connect 2s
  timeout client 60s
  timeout server 60s
  timeout check 10s
  option http-buffer-request
  option redispatch
  retries 5
  retry-on conn-failure empty-response 503
  option forwardfor if-none
frontend clients
  bind 127.0.0.1:${port}
  default_backend tollgate
frontend status
  bind 127.0.0.1:${statusPort}
  http-request return status 200 content-type text/plain lf-string "%[nbsrv(tollgate)]"
backend tollgate
  balance roundrobin
  option httpchk GET /api/ready
  default-server check inter 500 fall 3 rise 1
${ports.map((serverPort, index) => `  server s${index} 127.0.0.1:${serverPort}`).join("\n")}
`,
  );
  const balancer = spawn(program, ["-q", "-f", settings], { stdio: "ignore" });
  await once(balancer, "spawn");
  return {
    url: `http://127.0.0.1:${port}`,
    process: balancer,
    untilUp: (servers: number) =>
      eventually(
        async () =>
          (await sendRequest(`http://127.0.0.1:${statusPort}`, "GET", "/").catch(() => null))?.text ?? null,
        String(servers),
        120_000,
      ),
  };
}
