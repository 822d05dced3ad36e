import { readFile, writeFile } from "node:fs/promises";
import { expect, it, vi } from "vitest";
import { readConfig } from "../../../src/config/config.ts";
import { checkDatabase } from "../../../src/doctor/check-database.ts";
import { startFailure } from "../../../src/runtime/start-failure.ts";
import { openDatabase } from "../../../src/store/database.ts";
import { PasswordRequired } from "../../../src/store/driver/login-failures.ts";
import { startEmbeddedPostgres } from "../../../src/store/embedded/embedded.ts";
import { waitForDatabase } from "../../../src/store/wait-for-database.ts";
import { cleanedUp } from "../../support/cleanup.ts";
import { eventually } from "../../support/eventually.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { testDatabase } from "../../support/test-database.ts";
import { serverVariables } from "../../support/variables.ts";

const test = testDatabase(0);

/** What the start says, and doctor's remedy. */
async function failuresAt(url: string) {
  const database = openDatabase({ url, prepared: true, maxConnections: 1, answerTimeoutMs: 30_000 });
  cleanedUp(() => database.close());
  const neverWaiting = (_: number, because: Error) => {
    throw new Error(`waits: ${because.message}`);
  };
  const failure = await waitForDatabase(database, 30_000, neverWaiting).catch((error: Error) => error);
  const { findings } = await checkDatabase(readConfig(serverVariables(url)));
  return { started: startFailure(failure as Error, "DATABASE_URL"), finding: findings[0] };
}

it("says at once that DATABASE_URL has no password, where PostgreSQL asks for one", async () => {
  const { started, finding } = await failuresAt(Object.assign(new URL(test.url), { password: "" }).href);
  const reason = "PostgreSQL asks for a password, and none is given";
  expect(started).toMatch(`DATABASE_URL: the database cannot be reached: ${reason}, e.g. DATABASE_URL=`);
  expect(finding).toMatchObject({ state: "broken", detail: `cannot be reached: ${reason}` });
});

it("says so, too, where another of several servers is down", async () => {
  const { username, host, pathname } = new URL(test.url);
  const database = openDatabase({
    url: `postgres://${username}@${host},127.0.0.1:1${pathname}?sslmode=disable`,
    prepared: true,
    maxConnections: 1,
    answerTimeoutMs: 30_000,
  });
  cleanedUp(() => database.close());
  const waits = vi.fn();
  const failure = await waitForDatabase(database, 30_000, waits).catch((error: Error) => error);
  expect(failure).toMatchObject({ cause: expect.any(PasswordRequired) });
  expect(waits).not.toHaveBeenCalled();
});

it("says how to encrypt the connection, where PostgreSQL refuses one that is not encrypted", async () => {
  const postgres = await startEmbeddedPostgres(await temporaryFolder());
  cleanedUp(() => postgres.stop());
  const administrator = openDatabase({
    url: postgres.adminUrl,
    prepared: false,
    maxConnections: 1,
    answerTimeoutMs: 30_000,
  });
  cleanedUp(() => administrator.close());
  const run = (text: string) => administrator.run<{ hba_file: string }>({ name: "", text });
  const [{ hba_file }] = (await run("show hba_file")) as [{ hba_file: string }];
  const accepting = await readFile(hba_file, "utf8");
  // As most hosts do.
  await writeFile(hba_file, "local all all scram-sha-256\nhostssl all all all scram-sha-256\n");
  await run("select pg_reload_conf()");
  const failures = () => failuresAt(postgres.url);
  await eventually(async () => (await failures()).finding?.state, "broken");
  const { started, finding } = await failures();
  // Stopping it needs a connection.
  await writeFile(hba_file, accepting);
  await run("select pg_reload_conf()");
  expect(started).toMatch(
    /, no encryption: if it accepts only encrypted connections, set sslmode=verify-full in DATABASE_URL, e\.g\. /,
  );
  expect(finding?.remedy).toMatch(
    /^If PostgreSQL accepts only encrypted connections, set sslmode=verify-full /,
  );
});
