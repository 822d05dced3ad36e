import { execFile } from "node:child_process";
import { chown } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { unprivilegedAccount } from "../../../src/store/embedded/embedded-account.ts";
import { cleanedUp } from "../../support/cleanup.ts";
import { freePort } from "../../support/free-port.ts";
import { describeWith, findPostgresPrograms, findProgram } from "../../support/installed-programs.ts";
import { startPgBouncer } from "../../support/pgbouncer.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const run = promisify(execFile);

type Installed = { /** The folder of PostgreSQL's programs. */ bin: string; start(): Promise<OldPostgres> };

/** Tests the oldest installed PostgreSQL behind PgBouncer. Skipped without them, except in CI. */
export function describeBehindPgBouncer(title: string, tests: (installed: Installed) => void): void {
  const programs = { postgresql: findPostgresPrograms(), pgbouncer: findProgram("pgbouncer") };
  describeWith(title, programs, ({ postgresql: bin, pgbouncer }) =>
    tests({ bin, start: () => startBehindPgBouncer(bin, pgbouncer) }),
  );
}

export type OldPostgres = {
  url: string;
  /** The same database through PgBouncer in transaction mode. */
  pooledUrl: string;
  /** Ends all connections; settings that need a restart take effect. */
  restart(): Promise<void>;
  stop(): Promise<void>;
};

/** A cluster of the system's PostgreSQL behind PgBouncer, both on free ports, both trusting this machine. */
async function startBehindPgBouncer(bin: string, bouncer: string): Promise<OldPostgres> {
  const folder = await temporaryFolder();
  const account = await unprivilegedAccount();
  if (account) await chown(folder, account.uid, account.gid);
  const port = await freePort();
  const cluster = join(folder, "cluster");
  await run(
    join(bin, "initdb"),
    ["-D", cluster, "-U", "tollgate", "-A", "trust", "-E", "UTF8"],
    account ?? {},
  );
  const options = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=`;
  await run(
    join(bin, "pg_ctl"),
    ["start", "-D", cluster, "-w", "-l", join(folder, "log"), "-o", options],
    account ?? {},
  );
  const pooler = await startPgBouncer(bouncer, folder, { postgresPort: port, poolSize: 5 });
  return {
    url: `postgres://tollgate@127.0.0.1:${port}/postgres`,
    pooledUrl: pooler.url,
    restart: async () => {
      await run(
        join(bin, "pg_ctl"),
        ["restart", "-D", cluster, "-w", "-m", "fast", "-l", join(folder, "log")],
        account ?? {},
      );
    },
    stop: cleanedUp(async () => {
      await pooler.remove();
      await run(join(bin, "pg_ctl"), ["stop", "-D", cluster, "-m", "immediate"], account ?? {});
    }),
  };
}
