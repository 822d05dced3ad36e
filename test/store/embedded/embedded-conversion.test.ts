import { execFile } from "node:child_process";
import { chown, mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { type Database, openDatabase } from "../../../src/store/database.ts";
import { startEmbeddedPostgres } from "../../../src/store/embedded/embedded.ts";
import { unprivilegedAccount } from "../../../src/store/embedded/embedded-account.ts";
import { findBinaries } from "../../../src/store/embedded/embedded-binaries.ts";
import { ADMIN_PASSWORD, ownPassword } from "../../../src/store/embedded/embedded-cluster.ts";
import type { ConversionStep } from "../../../src/store/embedded/embedded-conversion.ts";
import { ensureRunning } from "../../../src/store/embedded/embedded-process.ts";
import { isMigrated, migrate } from "../../../src/store/migrate.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const run = promisify(execFile);
const MIGRATIONS = join(import.meta.dirname, "../../../src/store/migrations");
/** The last migration of the version that created the cluster. */
const LAST_OLD_MIGRATION = "0031_audit.sql";

let folder: string;
let count = 0;
beforeAll(async () => {
  folder = await temporaryFolder();
  await createTemplate();
}, 120_000);

describe("an embedded cluster whose role tollgate is a superuser", { timeout: 120_000 }, () => {
  it("is converted at the start, with data, sequences, functions and the next migrations", async () => {
    const dataDir = await createOldCluster();
    await expectConverted(dataDir);
    // The next start has nothing to convert.
    await expectConverted(dataDir);
  });

  it.each<ConversionStep>(["temporary superuser created", "roles swapped", "swap committed"])(
    "is converted by the next start after a crash at the step: %s",
    async (step) => {
      const dataDir = await createOldCluster();
      for (let crash = 0; crash < 2; crash += 1) {
        const interrupted = startEmbeddedPostgres(dataDir, {
          reached: (reached) => {
            if (reached === step) throw new Error("interrupted");
          },
        });
        // What has been committed is not done a second time.
        if (crash > 0 && step === "swap committed") await (await interrupted).stop();
        else await expect(interrupted).rejects.toThrow("interrupted");
        await stopPostgres(dataDir, "immediate");
      }
      await expectConverted(dataDir);
    },
  );

  it("is converted when only the superuser's password file had been written", async () => {
    const dataDir = await createOldCluster();
    await ownPassword(join(dataDir, "postgres", ADMIN_PASSWORD), await unprivilegedAccount());
    await expectConverted(dataDir);
  });

  it("is converted once by processes that start together", async () => {
    const dataDir = await createOldCluster();
    const started = await Promise.all([1, 2, 3].map(() => startEmbeddedPostgres(dataDir)));
    for (const postgres of started) await postgres.stop();
    await expectConverted(dataDir);
  });

  it("is converted beside a role postgres of the operator's", async () => {
    const dataDir = await createOldCluster();
    const old = open(await startOldCluster(dataDir));
    await rows(old, "create role postgres login");
    await old.close();
    await expectConverted(dataDir);
  });

  it("is converted while a process of the earlier version keeps working", async () => {
    const dataDir = await createOldCluster();
    const old = open(await startOldCluster(dataDir));
    const connection = await old.connection();
    await connection.script("begin; update old_thing set label = 'in use' where id = 1");
    const starting = startEmbeddedPostgres(dataDir);
    await connection.script("commit");
    connection.release({ healthy: true });
    const postgres = await starting;
    expect(await rows(old, "select label from old_thing where id = 1")).toEqual([{ label: "in use" }]);
    await old.close();
    await postgres.stop();
    await expectConverted(dataDir);
  });
});

/** A stopped copy of the template. */
async function createOldCluster(): Promise<string> {
  count += 1;
  const dataDir = join(folder, `old-${count}`);
  await run("cp", ["-a", join(folder, "template"), dataDir]);
  return dataDir;
}

/** As early versions did: the role `tollgate` created the cluster; with tables, data and other objects. */
async function createTemplate(): Promise<void> {
  const dataDir = join(folder, "template");
  const home = join(dataDir, "postgres");
  const account = await unprivilegedAccount();
  await mkdir(home, { recursive: true });
  if (account) await chown(home, account.uid, account.gid);
  await ownPassword(join(home, "password"), account);
  await run(
    (await findBinaries()).initdb,
    [
      `--pgdata=${join(home, "cluster")}`,
      "--username=tollgate",
      `--pwfile=${join(home, "password")}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      "--locale=C",
    ],
    account ?? {},
  );
  const database = open(await startOldCluster(dataDir));
  const connection = await database.connection();
  await connection.script(
    "create table schema_migration (name text primary key, applied_at timestamptz not null default now())",
  );
  const files = (await readdir(MIGRATIONS)).filter((name) => name.endsWith(".sql")).sort();
  for (const file of files.slice(0, files.indexOf(LAST_OLD_MIGRATION) + 1)) {
    await connection.script(await readFile(join(MIGRATIONS, file), "utf8"));
    await connection.run({ name: "done", text: "insert into schema_migration (name) values ($1)" }, [file]);
  }
  await connection.script(`
    insert into "user" (id, name, email) values ('old', 'Old', 'old@example.com');
    create schema extra;
    create type extra.mood as enum ('good', 'bad');
    create domain extra.positive as integer check (value > 0);
    create type extra.pair as (a integer, b integer);
    create sequence extra.counter start 41;
    create table old_thing (id bigint generated always as identity primary key, label text not null, n serial);
    create table parted (id integer) partition by range (id);
    create table parted_1 partition of parted for values from (0) to (10);
    create view things as select * from old_thing;
    create materialized view counted as select count(*) from old_thing;
    create function extra.next_counter() returns bigint language sql security definer as $$ select nextval('extra.counter') $$;
    create procedure extra.add_thing(label text) language sql as $$ insert into public.old_thing (label) values (label) $$;
    insert into old_thing (label) values ('one'), ('two');
    grant select on old_thing to pg_monitor;
  `);
  connection.release({ healthy: true });
  await database.close();
  await stopPostgres(dataDir, "fast");
  await rm(join(home, "port"));
}

async function startOldCluster(dataDir: string): Promise<string> {
  const home = join(dataDir, "postgres");
  const cluster = join(home, "cluster");
  const binaries = await findBinaries();
  const account = await unprivilegedAccount();
  const settings = { port: null, maxConnections: 100 };
  const port = await ensureRunning({ binaries, home, cluster, account }, settings);
  const password = (await readFile(join(home, "password"), "utf8")).trim();
  return `postgres://tollgate:${password}@127.0.0.1:${port}/postgres`;
}

async function stopPostgres(dataDir: string, mode: "fast" | "immediate"): Promise<void> {
  const cluster = join(dataDir, "postgres", "cluster");
  const stop = ["stop", "--pgdata", cluster, `--mode=${mode}`, "--wait"];
  await run((await findBinaries()).pg_ctl, stop, (await unprivilegedAccount()) ?? {}).catch(() => {
    // The last process to use it has stopped it.
  });
}

async function expectConverted(dataDir: string): Promise<void> {
  const postgres = await startEmbeddedPostgres(dataDir);
  const database = open(postgres.url);
  const admin = open(postgres.adminUrl);
  try {
    await migrate(database);
    expect(await isMigrated(database)).toBe(true);
    expect(await rows(database, ROLES)).toEqual([
      { rolname: "postgres", rolsuper: true },
      { rolname: "tollgate", rolsuper: false },
    ]);
    expect(await rows(database, FOREIGN_OBJECTS)).toEqual([]);
    await expect(rows(database, "select pg_read_file('/etc/passwd')")).rejects.toThrow("permission denied");
    expect(await rows(database, `select name from "user" where id = 'old'`)).toEqual([{ name: "Old" }]);
    await expectUsable(database);
    expect(await rows(admin, "select rolsuper from pg_roles where rolname = current_user")).toEqual([
      { rolsuper: true },
    ]);
  } finally {
    await database.close();
    await admin.close();
    await postgres.stop();
  }
}

const ROLES =
  "select rolname, rolsuper from pg_roles where rolname !~ '^pg_' and rolname <> 'postgres_renamed' order by 1";

const FOREIGN_OBJECTS = `
  select oid::regclass::text as name from pg_class
    where relnamespace in ('public'::regnamespace, 'extra'::regnamespace) and relowner <> 'tollgate'::regrole
  union all select oid::regprocedure::text from pg_proc
    where pronamespace in ('public'::regnamespace, 'extra'::regnamespace) and proowner <> 'tollgate'::regrole
  union all select oid::regtype::text from pg_type
    where typnamespace in ('public'::regnamespace, 'extra'::regnamespace) and typowner <> 'tollgate'::regrole
  union all select nspname from pg_namespace where nspname = 'extra' and nspowner <> 'tollgate'::regrole
  union all select datname from pg_database where datname = 'postgres' and datdba <> 'tollgate'::regrole`;

/** Rows, sequences, functions and later changes of the schema. */
async function expectUsable(database: Database): Promise<void> {
  const [before] = await rows<{ id: string; n: number }>(
    database,
    "select max(id) as id, max(n) as n from old_thing",
  );
  await rows(database, "call extra.add_thing('three')");
  const [after] = await rows<{ id: string; n: number }>(
    database,
    "select id, n from old_thing order by id desc limit 1",
  );
  expect(Number(after?.id)).toBe(Number(before?.id) + 1);
  expect(after?.n).toBe((before?.n ?? 0) + 1);
  const [first] = await rows<{ n: string }>(database, "select extra.next_counter() as n");
  const [second] = await rows<{ n: string }>(database, "select extra.next_counter() as n");
  expect(Number(second?.n)).toBe(Number(first?.n) + 1);
  await rows(database, "alter table old_thing add column if not exists later text");
  await rows(database, "create or replace view things as select * from old_thing");
  await rows(database, "refresh materialized view counted");
  await rows(database, "alter type extra.mood add value if not exists 'better'");
}

function open(url: string): Database {
  return openDatabase({ url, prepared: false, maxConnections: 2, answerTimeoutMs: 60_000 });
}

function rows<Row>(database: Database, text: string): Promise<Row[]> {
  return database.run<Row>({ name: "q", text });
}
