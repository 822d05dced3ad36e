import { connect, createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readConfig } from "../../../src/config/config.ts";
import { openDatabase } from "../../../src/store/database.ts";
import { DatabaseHosts } from "../../../src/store/driver/database-hosts.ts";
import { emptyDatabase, type TestDatabase } from "../../support/database.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

let test: TestDatabase;
beforeAll(async () => {
  test = await emptyDatabase();
});
afterAll(() => test.drop());

it("connects to a socket, whose folder is a parameter or the host", async () => {
  const folder = await temporaryFolder();
  const { port, username, password, pathname } = new URL(test.url);
  const socket = createServer((client) => {
    const upstream = connect(Number(port), "127.0.0.1");
    client.pipe(upstream).pipe(client);
    for (const end of [client, upstream]) end.on("error", () => {});
  });
  await new Promise<void>((listens) => socket.listen(join(folder, ".s.PGSQL.5432"), listens));
  const encoded = encodeURIComponent(folder);
  for (const address of [
    `${pathname}?host=${folder}`,
    `${pathname}?host=${encoded}`,
    `${encoded}${pathname}`,
  ]) {
    const config = readConfig({ DATABASE_URL: `postgres://${username}:${password}@${address}` });
    const database = openDatabase({
      url: config.databaseUrl as string,
      prepared: true,
      maxConnections: 1,
      answerTimeoutMs: 30_000,
    });
    expect(await database.run({ name: "one", text: "select 1 as one" })).toEqual([{ one: 1 }]);
    await database.close();
  }
  socket.close();
});

it.each(["prefer", "require", "verify-ca"])("verifies the server in full with sslmode=%s too", (mode) => {
  const { current } = new DatabaseHosts(`postgres://me@one/x?application_name=x&sslmode=${mode}`);
  expect(current).toBe("postgres://me@one/x?application_name=x&sslmode=verify-full");
});

it.each([
  ["?sslrootcert=system", "?sslmode=verify-full"],
  ["?sslmode=verify-full&sslrootcert=system&connect_timeout=5", "?sslmode=verify-full&&connect_timeout=5"],
  ["?sslmode=verify-full&sslrootcert=/etc/system", "?sslmode=verify-full&sslrootcert=/etc/system"],
])("trusts the default authorities where %s says so", (query, read) => {
  expect(new DatabaseHosts(`postgres://me@one/x${query}`).current).toBe(`postgres://me@one/x${read}`);
});
