import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readConfig } from "../../../src/config/config.ts";
import { checkDatabase } from "../../../src/doctor/check-database.ts";
import { openDatabase } from "../../../src/store/database.ts";
import { waitForDatabase } from "../../../src/store/wait-for-database.ts";
import { tollgateProcessIn } from "../../cli/tollgate.ts";
import { PROCESS_VARIABLES, serverVariables } from "../../support/variables.ts";
import { describeBehindPgBouncer, type OldPostgres } from "./debian-postgres.ts";

const SERVER = resolve(import.meta.dirname, "../../../src/server.ts");

describeBehindPgBouncer("a pooler that does not track prepared statements", ({ start }) => {
  let postgres: OldPostgres;
  const prepared = { DATABASE_PREPARED: "on" };
  beforeAll(async () => {
    postgres = await start();
    const database = openDatabase({
      url: postgres.pooledUrl,
      prepared: false,
      maxConnections: 1,
      answerTimeoutMs: 60_000,
    });
    await waitForDatabase(database);
    await database.close();
  });
  afterAll(() => postgres.stop());

  const findings = async (url: string) =>
    (await checkDatabase(readConfig({ ...serverVariables(url), ...prepared }))).findings;

  it("is named by doctor, on unused connections and on those that have the statements", async () => {
    for (const found of ["on unused connections", "again"])
      expect(await findings(postgres.pooledUrl), found).toMatchObject([
        {
          check: "database",
          state: "broken",
          detail: expect.stringMatching(/^the pooler does not track prepared statements: .*already exists$/),
          remedy: expect.stringMatching(/^Set DATABASE_PREPARED=off, .*\.$/),
        },
      ]);
    expect((await findings(postgres.url))[0]).toMatchObject({ check: "database", state: "good" });
  });

  it("is no pooler in session mode, whose few connections are left to others", async () => {
    const url = postgres.pooledUrl.replace(/postgres$/, "in_sessions");
    const tollgate = tollgateProcessIn({ ...serverVariables(url), ...prepared });
    expect(await tollgate("users", "create", "--count", "1")).toMatchObject({ code: 0, stderr: "" });
    expect((await findings(url))[0]).toMatchObject({ check: "database", state: "good" });
  });

  it("stops the start, with one line that names DATABASE_PREPARED", async () => {
    await postgres.restart();
    const env = { ...PROCESS_VARIABLES, ...serverVariables(postgres.pooledUrl), ...prepared };
    for (const found of ["on unused connections", "again"])
      await expect(
        promisify(execFile)(process.execPath, [SERVER], { env, timeout: 100_000 }),
        found,
      ).rejects.toMatchObject({
        code: 1,
        stderr: expect.stringMatching(
          /^DATABASE_PREPARED: .*already exists\. Set DATABASE_PREPARED=off, [^\n]*\n$/,
        ),
      });
  });
});
