import { execFile, spawn } from "node:child_process";
import { chmod, chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { unprivilegedAccount } from "../../../src/store/embedded-account.ts";
import { cleanedUp } from "../../support/cleanup.ts";
import { freePort } from "../../support/free-port.ts";
import { findPostgresPrograms, findProgram } from "../../support/installed-programs.ts";

const run = promisify(execFile);

type Installed = { /** The folder of PostgreSQL's programs. */ bin: string; start(): Promise<OldPostgres> };

/** Tests the oldest installed PostgreSQL behind PgBouncer. Skipped without them, except in CI. */
export function describeBehindPgBouncer(title: string, tests: (installed: Installed) => void): void {
  const [bin, bouncer] = [findPostgresPrograms(), findProgram("pgbouncer")];
  if (bin && bouncer) {
    describe(title, () => tests({ bin, start: () => startBehindPgBouncer(bin, bouncer) }));
    return;
  }
  it.skipIf(!process.env.CI)("needs PostgreSQL and PgBouncer: apt-get install postgresql pgbouncer", () => {
    expect([bin, bouncer]).not.toContain(null);
  });
}

export type OldPostgres = {
  url: string;
  /** The same database through PgBouncer in transaction mode. */
  pooledUrl: string;
  stop(): Promise<void>;
};

/** A cluster of the system's PostgreSQL behind PgBouncer, both on free ports, both trusting this machine. */
async function startBehindPgBouncer(bin: string, bouncer: string): Promise<OldPostgres> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-pooled-"));
  await chmod(folder, 0o755);
  const account = await unprivilegedAccount();
  if (account) await chown(folder, account.uid, account.gid);
  const [port, pooledPort] = [await freePort(), await freePort()];
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
  const settings = join(folder, "pgbouncer.ini");
  const users = join(folder, "users.txt");
  await writeFile(users, '"tollgate" ""\n');
  await writeFile(
    settings,
    `[databases]
postgres = host=127.0.0.1 port=${port} dbname=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${pooledPort}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = transaction
default_pool_size = 5
`,
  );
  const pooler = spawn(bouncer, ["-q", settings], { stdio: "ignore", ...(account ?? {}) });
  const host = (at: number) => `postgres://tollgate@127.0.0.1:${at}/postgres`;
  return {
    url: host(port),
    pooledUrl: host(pooledPort),
    stop: cleanedUp(async () => {
      pooler.kill("SIGKILL");
      await run(join(bin, "pg_ctl"), ["stop", "-D", cluster, "-m", "immediate"], account ?? {});
      await rm(folder, { recursive: true, force: true });
    }),
  };
}
