import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Connection, type Database, openDatabase } from "../../src/store/database.ts";
import { isMigrated, migrate } from "../../src/store/migrate.ts";
import { dumpSchema } from "../../src/store/schema-dump.ts";
import { emptyDatabase, freshDatabase, type TestDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { spawnServer } from "../support/server-process.ts";

let test: TestDatabase;
beforeAll(async () => {
  test = await emptyDatabase();
});
afterAll(() => test.drop());

it("runs each migration once when ten processes start on an empty database", async () => {
  const servers = await Promise.all(Array.from({ length: 10 }, () => spawnServer(test.url)));
  const responses = await Promise.all(servers.map((server) => fetch(`${server.url}/api/ready`)));
  expect(responses.map((answer) => answer.status)).toEqual(Array(10).fill(200));
  const ran = servers.flatMap((server) => server.lines.filter((line) => line.includes('"migrations"')));
  expect(ran).toHaveLength(1);
  const ends = await Promise.all(servers.map((server) => server.end("SIGTERM")));
  expect(ends.map((end) => end.code)).toEqual(Array(10).fill(0));
});

it("goes on after a process that stopped in the middle of a migration, its connections open", async () => {
  const { url, database, drop } = await emptyDatabase();
  const stopping = openDatabase({ url, prepared: false, maxConnections: 2, answerTimeoutMs: 60_000 });
  let commits = 0;
  const unlessStopped = <Result>(step: () => Promise<Result>) =>
    commits < 3 ? step() : new Promise<Result>(() => {});
  const connection = async (): Promise<Connection> => {
    const { run, script, release } = await stopping.connection();
    return {
      run: (statement, values) => unlessStopped(() => run(statement, values)),
      script: (text) => {
        if (text === "commit") commits += 1;
        return unlessStopped(() => script(text));
      },
      release,
    };
  };
  void migrate({ ...stopping, connection });
  await eventually(async () => commits, 3);
  const files = await migrate(database);
  expect(files[0]).toBe("0003_changes.sql");
  expect(await isMigrated(database)).toBe(true);
  await drop();
});

/** Whether it can be used, and its id in PostgreSQL. */
const findIndex = (name: string) =>
  `select indisvalid as usable, indexrelid::int as id from pg_index where indexrelid = '${name}'::regclass`;

it.each([
  ["subscription_payment_once", "0361_subscription_payment_once_concurrently.sql"],
  // Where 0121 and 0154 were interrupted, releases before took it for usable.
  ["user_by_external_id", "0375_external_id_concurrently.sql"],
])("builds an index anew that an interrupted migration has left unusable: %s", async (index, file) => {
  const { database, rows, drop } = await freshDatabase(2);
  await rows("delete from schema_migration where name = $1", [file]);
  await rows(`drop index ${index}`);
  const interrupted = rows(`create unique index concurrently ${index} on "user" ((1))`);
  await expect(interrupted).rejects.toMatchObject({ code: "23505" });
  expect(await rows(findIndex(index))).toMatchObject([{ usable: false }]);
  expect(await migrate(database)).toEqual([file]);
  expect(await rows(findIndex(index))).toMatchObject([{ usable: true }]);
  await drop();
});

it("keeps an index that an earlier migration has built and servers rely on", async () => {
  const { database, rows, drop } = await freshDatabase(0);
  const file = "0375_external_id_concurrently.sql";
  const before = await rows(findIndex("user_by_external_id"));
  await rows("delete from schema_migration where name = $1", [file]);
  expect(await migrate(database)).toEqual([file]);
  expect(await rows(findIndex("user_by_external_id"))).toEqual(before);
  await drop();
});

it("schema.sql matches the migrations", async () => {
  await migrate(test.database);
  const written = await readFile(new URL("../../src/store/schema.sql", import.meta.url), "utf8");
  // After a new migration: npm run schema
  expect(await dumpSchema(test.database)).toBe(written);
});

it("isMigrated is true after all migrations, and throws for an empty or unreachable database", async () => {
  const folder = new URL("../../src/store/migrations/", import.meta.url);
  const files = (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort();
  const empty = await emptyDatabase();
  await expect(isMigrated(empty.database)).rejects.toThrow("schema_migration");
  expect(await migrate(empty.database)).toEqual(files);
  expect(await isMigrated(empty.database)).toBe(true);
  expect(await migrate(empty.database)).toEqual([]);
  await empty.drop();

  const nowhere = openDatabase({
    url: "postgres://nobody@127.0.0.1:1/nothing",
    prepared: true,
    maxConnections: 1,
    answerTimeoutMs: 500,
  });
  await expect(isMigrated(nowhere)).rejects.toThrow(/ECONNREFUSED/);
  await nowhere.close();
});

describe("a migration of one's own", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "tollgate-migrations-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  const migrateFiles = (database: Database) => migrate(database, pathToFileURL(`${folder}/`));

  it("is named, with the line, when PostgreSQL refuses it, and leaves nothing behind", async () => {
    const { database, rows, drop } = await freshDatabase(0);
    const file = join(folder, "9000_task.sql");
    await writeFile(file, "create table task (\n  id uuid primary key,\n);\n");
    await expect(migrateFiles(database)).rejects.toThrow(
      'src/store/migrations/9000_task.sql, line 3: syntax error at or near ")"',
    );
    await writeFile(file, "create table task (id uuid primary key)");
    expect(await migrateFiles(database)).toEqual(["9000_task.sql"]);
    expect(await rows("select * from task")).toEqual([]);
    await drop();
  });

  it("is named when it has no number, rather than left out", async () => {
    const { database, drop } = await freshDatabase(0);
    await writeFile(join(folder, "20261201_task.sql"), "create table later (id uuid)");
    await expect(migrateFiles(database)).rejects.toThrow(
      "src/store/migrations/20261201_task.sql: its name must start with four digits and _, such as 9000_project.sql",
    );
    await drop();
  });
});
