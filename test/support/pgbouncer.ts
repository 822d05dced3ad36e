import { spawn } from "node:child_process";
import { chown, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { unprivilegedAccount } from "../../src/store/embedded/embedded-account.ts";
import { cleanedUp } from "./cleanup.ts";
import { freePort } from "./free-port.ts";

/**
 * PgBouncer in transaction mode on a free port, in front of every database of a server that trusts this
 * machine.
 * @param folder gets its settings
 */
export async function startPgBouncer(
  program: string,
  folder: string,
  { postgresPort, poolSize }: { postgresPort: number; poolSize: number },
): Promise<{ url: string; remove(): Promise<unknown> }> {
  const account = await unprivilegedAccount();
  if (account) await chown(folder, account.uid, account.gid);
  const [port, settings, users] = [await freePort(), join(folder, "pgbouncer.ini"), join(folder, "users")];
  await writeFile(users, '"tollgate" ""\n');
  await writeFile(
    settings,
    `[databases]
* = host=127.0.0.1 port=${postgresPort}
in_sessions = host=127.0.0.1 port=${postgresPort} dbname=postgres pool_mode=session pool_size=3
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = transaction
default_pool_size = ${poolSize}
max_client_conn = 500
server_login_retry = 1
`,
  );
  const pooler = spawn(program, ["-q", settings], { stdio: "ignore", ...(account ?? {}) });
  return {
    url: `postgres://tollgate@127.0.0.1:${port}/postgres`,
    remove: cleanedUp(async () => pooler.kill("SIGKILL")),
  };
}
