import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openDatabase } from "../../../src/store/database.ts";
import { migrate } from "../../../src/store/migrate.ts";
import { waitForDatabase } from "../../../src/store/wait-for-database.ts";
import { numberedEvent } from "../../fixtures/numbered-event.ts";
import { addUsers } from "../../support/database.ts";
import { deliverWebhook } from "../../support/http.ts";
import { spawnServer } from "../../support/server-process.ts";
import { serverVariables } from "../../support/variables.ts";
import { describeBehindPgBouncer, type OldPostgres } from "../compatibility/debian-postgres.ts";

const PROJECT = resolve(import.meta.dirname, "../../..");
const GUIDE = readFileSync(join(PROJECT, "docs/how-to/back-up-and-restore.md"), "utf8");
/** The commands of the guide, one per line, as they stand there. */
const COMMANDS = [...GUIDE.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block]) =>
  (block as string).trim().split("\n"),
);

// The installed PostgreSQL has pg_dump; the embedded one lacks it.
describeBehindPgBouncer("the guide, followed line by line,", ({ bin, start }) => {
  let postgres: OldPostgres;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "tollgate-backup-"));
    postgres = await start();
    const database = openDatabase({
      ...{ url: postgres.url, prepared: false, maxConnections: 2, answerTimeoutMs: 30_000 },
    });
    await waitForDatabase(database);
    await migrate(database);
    await addUsers({ rows: (text, values = []) => database.run({ name: "seed", text }, values) }, 20);
    await database.close();
  });
  afterAll(async () => {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it("restores every delivery, and repeats stay duplicates", async () => {
    const before = await spawnServer(postgres.url);
    for (let n = 0; n < 20; n += 1) {
      expect((await deliverWebhook(before.url, "provider-a", numberedEvent("backup", n))).status).toBe(200);
    }
    await before.end("SIGTERM");

    const outputs = COMMANDS.map((command) => run(command));
    expect(COMMANDS.map(programOf)).toEqual([
      "pg_dump",
      "createdb",
      "pg_restore",
      "npm",
      "pg_basebackup",
      "npm",
    ]);
    expect(outputs[3]).toMatch(/^20 +provider-a .* successful /m);
    expect(JSON.parse(outputs[5] as string)).toBeTypeOf("object");
    expect(existsSync(join(folder, "base-backup/PG_VERSION"))).toBe(true);

    const after = await spawnServer(restoredUrl());
    const repeat = await deliverWebhook(after.url, "provider-a", numberedEvent("backup", 7));
    expect(repeat.body).toEqual({ received: true, duplicate: true });
    const first = await deliverWebhook(after.url, "provider-a", numberedEvent("backup", 20));
    expect([first.status, first.body]).toEqual([200, { received: true }]);
    await after.end("SIGTERM");
  });

  function restoredUrl(): string {
    const url = new URL(postgres.url);
    url.pathname = "/tollgate_restored";
    return url.href;
  }

  function run(command: string): string {
    const env = {
      ...process.env,
      ...serverVariables(postgres.url),
      ...{ PATH: `${bin}:${process.env.PATH}`, MAINTENANCE_URL: postgres.url, RESTORED_URL: restoredUrl() },
    };
    const cwd = programOf(command) === "npm" ? PROJECT : folder;
    return execFileSync("bash", ["-c", command], {
      ...{ cwd, env, encoding: "utf8" as const, stdio: ["ignore", "pipe", "pipe"] },
    });
  }
});

/** The first word that sets no variable. */
function programOf(command: string): string | undefined {
  return command.split(" ").find((word) => !word.includes("="));
}
