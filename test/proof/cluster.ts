import { openDatabase } from "../../src/store/database.ts";
import { migrate } from "../../src/store/migrate.ts";
import { cleanedUp } from "../support/cleanup.ts";
import { addUsers } from "../support/database.ts";
import { freePort } from "../support/free-port.ts";
import { startHaproxy } from "../support/haproxy.ts";
import { findPostgresPrograms, findProgram } from "../support/installed-programs.ts";
import { startPgBouncer } from "../support/pgbouncer.ts";
import type { TestRedis } from "../support/redis.ts";
import { startRedisCluster } from "../support/redis-cluster.ts";
import { type ServerProcess, spawnServer } from "../support/server-process.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { LOAD_USERS } from "./event-load.ts";
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

/**
 * Three servers behind HAProxy, PgBouncer over a replicated PostgreSQL, and a Redis cluster of three nodes.
 */
export async function startCluster(programs: Programs, variables: Record<string, string>): Promise<Cluster> {
  const folder = await temporaryFolder();
  const postgres = await startReplicatedPostgres(programs.postgresql);
  await migrateAt(postgres.primary().url);
  await addUsers(postgres.primary(), LOAD_USERS);
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
  const balancer = await startHaproxy(programs.haproxy, ports);
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
      await balancer.remove();
      await pooler.remove();
      await postgres.remove();
      for (const node of redis) await node.remove();
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
