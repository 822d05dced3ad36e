import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openDatabase } from "../../src/store/database.ts";
import { startEmbeddedPostgres } from "../../src/store/embedded.ts";
import { migrate } from "../../src/store/migrate.ts";
import { waitForDatabase } from "../../src/store/wait-for-database.ts";
import { cleanedUp } from "./cleanup.ts";
import { addUsers } from "./database.ts";

export type TestCluster = {
  url: string;
  rows<Row = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Ends the whole PostgreSQL: `SIGKILL` as a crash would, `SIGINT` as an operator. It comes back by itself. */
  end(signal: "SIGKILL" | "SIGINT"): Promise<void>;
  reachable(): Promise<void>;
  remove(): Promise<void>;
};

/** A PostgreSQL of one test's own, to be killed and stopped, with the schema and `users` people. */
export async function startPostgresCluster(users: number): Promise<TestCluster> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-cluster-"));
  await chmod(folder, 0o755);
  const postgres = await startEmbeddedPostgres(folder);
  const database = openDatabase({
    url: postgres.adminUrl,
    prepared: false,
    maxConnections: 2,
    answerTimeoutMs: 30_000,
  });
  const rows: TestCluster["rows"] = (text, values = []) => database.run({ name: "test", text }, values);
  await migrate(database);
  await addUsers({ rows }, users);
  return {
    url: postgres.adminUrl,
    rows,
    end: async (signal) => {
      const file = join(folder, "postgres", "cluster", "postmaster.pid");
      const pid = Number((await readFile(file, "utf8")).split("\n")[0]);
      const family = signal === "SIGKILL" ? [pid, ...(await childrenOf(pid))] : [pid];
      for (const one of family) process.kill(one, signal);
      while (isAlive(pid)) await sleep(10);
    },
    reachable: () => waitForDatabase(database),
    remove: cleanedUp(async () => {
      await database.close();
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    }),
  };
}

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
  return text.split(" ").filter(Boolean).map(Number);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
