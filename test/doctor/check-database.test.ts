import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { checkDatabase } from "../../src/doctor/check-database.ts";
import { cleanedUp } from "../support/cleanup.ts";
import { emptyDatabase, freshDatabase, type TestDatabase } from "../support/database.ts";
import { serverVariables } from "../support/variables.ts";

/** A role of its own, which owns nothing. */
async function stranger(test: TestDatabase) {
  const role = `stranger_${randomBytes(4).toString("hex")}`;
  await test.rows(`create role ${role} login password 'stranger'`);
  cleanedUp(async () => {
    const other = await emptyDatabase();
    await other.rows(`drop role ${role}`);
    await other.drop();
  });
  cleanedUp(() => test.drop());
  const url = Object.assign(new URL(test.url), { username: role, password: "stranger" });
  const findings = async (parameters = "") =>
    (await checkDatabase(readConfig(serverVariables(`${url.href}${parameters}`)))).findings;
  return { role, findings };
}

it("reports a role that cannot create the tables", async () => {
  const test = await emptyDatabase();
  const { role, findings } = await stranger(test);
  const name = new URL(test.url).pathname.slice(1);
  const [database, schema] = await findings();
  expect(database).toMatchObject({ check: "database", state: "good" });
  expect(schema).toEqual({
    check: "schema",
    state: "broken",
    detail: `${role} may not create tables in the schema public`,
    remedy: `As an administrator of PostgreSQL: alter database ${name} owner to ${role}`,
  });
  await test.rows(`alter database ${name} owner to ${role}`);
  expect((await findings())[1]).toMatchObject({
    state: "warning",
    detail: expect.stringContaining("pending: 0001_intake.sql"),
  });
});

it("advises to create the schema that a role's search_path names and the database lacks", async () => {
  const test = await emptyDatabase();
  const { role, findings } = await stranger(test);
  await test.rows(`alter role ${role} set search_path = "$user", "Tollgate", public_too`);
  expect((await findings())[1]).toMatchObject({
    state: "broken",
    remedy: `As an administrator of PostgreSQL: create schema "Tollgate" authorization ${role}`,
  });
  expect((await findings("&options=-c%20search_path%3DTollgate"))[1]).toMatchObject({
    remedy: `As an administrator of PostgreSQL: create schema tollgate authorization ${role}`,
  });
  await test.rows(`create schema "Tollgate" authorization ${role}`);
  expect((await findings())[1]).toMatchObject({
    state: "warning",
    remedy: "Start the server: it runs them.",
  });
  await test.rows(`drop schema "Tollgate"`);
});

it("advises what helps a role that may use no schema of its search_path", async () => {
  const test = await emptyDatabase();
  const { role, findings } = await stranger(test);
  const name = new URL(test.url).pathname.slice(1);
  const advised = async () => {
    const [, schema] = await findings();
    return schema?.remedy?.replace(/^As an administrator of PostgreSQL: /, "") ?? "";
  };
  await test.rows(`alter database ${name} owner to ${role}`);
  await test.rows(`alter role ${role} set search_path = ''`);
  const path = `alter role ${role} in database ${name} set search_path = public`;
  expect(await advised()).toBe(path);
  await test.rows(path);
  expect(await advised()).toBe("Start the server: it runs them.");

  await test.rows("create schema closed");
  await test.rows(`alter role ${role} in database ${name} set search_path = closed`);
  const grant = `grant usage, create on schema closed to ${role}`;
  expect(await advised()).toBe(grant);
  await test.rows(grant);
  expect(await advised()).toBe("Start the server: it runs them.");

  // Its owner is no longer the database's.
  await test.rows("alter schema public owner to current_user");
  await test.rows(path);
  expect(await advised()).toBe(`grant usage, create on schema public to ${role}`);
});

it("reports a role that is not the one that owns the tables", async () => {
  const test = await freshDatabase(0);
  const [{ owner } = {}] = await test.rows<{ owner: string }>("select current_user as owner");
  const { role, findings } = await stranger(test);
  const detail = `the tables belong to ${owner}, and ${role} cannot bring them up to date`;
  const remedy = `Set DATABASE_URL to the role ${owner}.`;
  expect((await findings())[1]).toEqual({ check: "schema", state: "broken", detail, remedy });
  await test.rows(`grant select on all tables in schema public to ${role}`);
  expect((await findings())[1]).toMatchObject({ state: "broken", detail });
  await test.rows(`grant create on schema public to ${role}`);
  expect((await findings())[1]).toMatchObject({ state: "warning", detail });
  await test.rows("delete from schema_migration where name = '0001_intake.sql'");
  expect((await findings())[1]).toMatchObject({ state: "broken", detail });
});

it("reports a backup that was not restored to its end", async () => {
  const test = await freshDatabase(0);
  cleanedUp(() => test.drop());
  const schema = async () => (await checkDatabase(readConfig(serverVariables(test.url)))).findings[1];
  expect(await schema()).toMatchObject({ check: "schema", state: "good" });
  await test.rows("drop index webhook_delivery_once");
  expect(await schema()).toEqual({
    check: "schema",
    state: "broken",
    detail: "the database lacks webhook_delivery_once: a backup was not restored to its end",
    remedy: "Restore the backup again, into an empty database.",
  });
});

it("reports a database that takes no writes", async () => {
  const test = await freshDatabase(0);
  cleanedUp(() => test.drop());
  await test.rows(
    `alter database ${new URL(test.url).pathname.slice(1)} set default_transaction_read_only = on`,
  );
  const { findings } = await checkDatabase(readConfig(serverVariables(test.url)));
  expect(findings[0]).toMatchObject({
    check: "database",
    state: "broken",
    detail: "DATABASE_URL: read-only",
  });
});

it("warns of indexes that were built with an earlier collation version", async () => {
  const test = await freshDatabase(0);
  cleanedUp(() => test.drop());
  const name = new URL(test.url).pathname.slice(1);
  const sorted = `${name}_sorted`;
  await test.rows(
    `create database ${sorted} template template0 encoding 'UTF8' locale_provider icu icu_locale 'en' locale 'C'`,
  );
  cleanedUp(() => test.rows(`drop database ${sorted} with (force)`));
  const url = Object.assign(new URL(test.url), { pathname: `/${sorted}` }).href;
  const collation = async () => {
    const { findings } = await checkDatabase(readConfig(serverVariables(url)));
    return findings.filter(({ check }) => check === "collation");
  };
  expect(await collation()).toEqual([]);
  await test.rows(`update pg_database set datcollversion = '2.28' where datname = '${sorted}'`);
  expect(await collation()).toMatchObject([
    {
      state: "warning",
      remedy: expect.stringMatching(
        `\`reindex \\(concurrently\\) database ${sorted}\` and \`alter database ${sorted} refresh collation version\``,
      ),
    },
  ]);
});
