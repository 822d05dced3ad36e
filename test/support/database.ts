import { randomBytes } from "node:crypto";
import { type Database, openDatabase } from "../../src/store/database.ts";
import { migrate } from "../../src/store/migrate.ts";

export type TestDatabase = {
  url: string;
  database: Database;
  /** The rows of any statement, for checking what happened. */
  rows<Row = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  drop(): Promise<void>;
};

/** A new empty database on the PostgreSQL of this run. */
export function emptyDatabase(): Promise<TestDatabase> {
  return createDatabase("template0");
}

/** A copy of the migrated template, with `users` people: `user_0` and up. */
export async function freshDatabase(users = 20): Promise<TestDatabase> {
  const test = await createDatabase(TEMPLATE);
  await addUsers(test, users);
  return test;
}

const TEMPLATE = "migrated_template";
/** Within the time that vitest gives a hook, which then says what has failed. */
const CHECKPOINT_WITHIN_MS = 110_000;

/** Migrates the database that every test file gets a copy of. */
export async function createTemplate(serverUrl: string): Promise<void> {
  await onServer(serverUrl, `create database ${TEMPLATE} template template0`);
  // Two: one holds the lock of migrations.
  const database = open(urlOf(serverUrl, TEMPLATE), 2);
  await migrate(database);
  // PostgreSQL copies a database only while nothing is connected to it.
  await database.close();
}

async function createDatabase(template: string): Promise<TestDatabase> {
  const server = process.env.TEST_POSTGRES_URL;
  if (!server) throw new Error("TEST_POSTGRES_URL is not set: run the tests with vitest");
  const name = `test_${randomBytes(6).toString("hex")}`;
  await onServer(server, `create database ${name} template ${template}`);
  const url = urlOf(server, name);
  const database = open(url, 4);
  return {
    url,
    database,
    rows: (text, values = []) => run(database, text, values),
    drop: async () => {
      await database.close();
      await onServer(server, `drop database if exists ${name} with (force)`);
    },
  };
}

function urlOf(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}

export async function addUsers(test: Pick<TestDatabase, "rows">, count: number): Promise<void> {
  await test.rows(
    `insert into "user" (id, name, email)
     select 'user_' || n, 'User ' || n, 'user_' || n || '@example.com' from generate_series(0, $1::int - 1) n`,
    [count],
  );
}

/** Creating and dropping a database wait for a checkpoint: the longer, the more the disk has to write. */
async function onServer(url: string, text: string): Promise<void> {
  const database = open(url, 1, CHECKPOINT_WITHIN_MS);
  try {
    await run(database, text);
  } finally {
    await database.close();
  }
}

/** On a busy machine a new connection may take longer than the product waits for one. */
async function run<Row>(database: Database, text: string, values: readonly unknown[] = []): Promise<Row[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await database.run<Row>({ name: text.slice(0, 60), text }, values);
    } catch (error) {
      const isBusy = error instanceof Error && error.message.includes("when trying to connect");
      if (!isBusy || attempt === 6) throw error;
    }
  }
}

function open(url: string, maxConnections: number, answerTimeoutMs = 30_000): Database {
  return openDatabase({ url, prepared: false, maxConnections, answerTimeoutMs });
}
