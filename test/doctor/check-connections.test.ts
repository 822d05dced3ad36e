import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { checkConnections, SERVER_CONNECTIONS } from "../../src/doctor/check-connections.ts";
import { checkDatabase } from "../../src/doctor/check-database.ts";
import { INTAKE_CONNECTIONS } from "../../src/intake/create-intake.ts";
import { openDatabase } from "../../src/store/database.ts";
import { cleanedUp } from "../support/cleanup.ts";
import { emptyDatabase } from "../support/database.ts";
import { serverVariables } from "../support/variables.ts";
import { describeBehindPgBouncer } from "../system/compatibility/debian-postgres.ts";

/** A database that a role of its own owns, and that role's finding. */
async function owned() {
  const test = await emptyDatabase();
  const name = new URL(test.url).pathname.slice(1);
  await test.rows(`create role ${name} login password 'owner'`);
  await test.rows(`alter database ${name} owner to ${name}`);
  cleanedUp(async () => {
    const other = await emptyDatabase();
    await test.drop();
    await other.rows(`drop role ${name}`);
    await other.drop();
  });
  const url = Object.assign(new URL(test.url), { username: name, password: "owner" });
  return { ...test, name, url: url.href, finding: () => findingAt(url.href) };
}

async function findingAt(url: string) {
  const database = openDatabase({ url, prepared: true, maxConnections: 1, answerTimeoutMs: 30_000 });
  try {
    return await checkConnections(database);
  } finally {
    await database.close();
  }
}

it("warns where a role or database may open fewer connections than a server does", async () => {
  const { name, rows, finding } = await owned();
  expect(await finding()).toBe(null);
  await rows(`alter role ${name} connection limit 20`);
  expect(await finding()).toEqual({
    check: "connections",
    state: "warning",
    detail:
      "PostgreSQL allows 20 connections, but a server opens up to 27: when none is free, webhooks are answered 503",
    remedy: `As an administrator of PostgreSQL: alter role ${name} connection limit 50; or connect through PgBouncer.`,
  });
  await rows(`alter database ${name} connection limit 10`);
  const ofDatabase = `alter database ${name} connection limit 50`;
  expect(await finding()).toMatchObject({ remedy: expect.stringContaining(ofDatabase) });
  await rows(ofDatabase);
  await rows(`alter role ${name} connection limit 50`);
  expect(await finding()).toBe(null);
});

it("needs only a single free connection", async () => {
  const { name, rows, url } = await owned();
  await rows(`alter role ${name} connection limit 1`);
  const { findings } = await checkDatabase(readConfig(serverVariables(url)));
  expect(findings.slice(0, 2)).toMatchObject([
    { check: "database", state: "good" },
    { check: "connections", state: "warning" },
  ]);
});

it("knows how many a server opens: the intake's, 10 others and one to relay events", async () => {
  expect(SERVER_CONNECTIONS).toBe(INTAKE_CONNECTIONS + 10 + 1);
  const guide = await readFile(new URL("../../docs/how-to/deploy.md", import.meta.url), "utf8");
  expect(guide).toContain(`up to ${SERVER_CONNECTIONS} connections`);
});

describeBehindPgBouncer("the connections that PostgreSQL allows", ({ start }) => {
  it("are not checked behind a pooler, where servers wait", async () => {
    const { url, pooledUrl, restart, stop } = await start();
    const database = openDatabase({ url, prepared: false, maxConnections: 1, answerTimeoutMs: 30_000 });
    await database.run({ name: "", text: "alter system set max_connections = 15" });
    await database.close();
    await restart();
    expect(await findingAt(url)).toMatchObject({
      detail: expect.stringContaining("allows 12 connections,"),
      remedy: expect.stringContaining("alter system set max_connections = 100"),
    });
    expect(await findingAt(pooledUrl)).toBe(null);
    await stop();
  });
});
