import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { DatabaseUnavailable, openDatabase } from "../../../src/store/database.ts";
import { unprivilegedAccount } from "../../../src/store/embedded/embedded-account.ts";
import { migrate } from "../../../src/store/migrate.ts";
import { dumpSchema } from "../../../src/store/schema-dump.ts";
import { inTransaction } from "../../../src/store/transaction.ts";
import { waitForDatabase } from "../../../src/store/wait-for-database.ts";
import { numberedEvent } from "../../fixtures/numbered-event.ts";
import { addUsers, type TestDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { deliverUntilAnswered } from "../../support/http.ts";
import { expectEachAppliedOnce } from "../../support/ledger.ts";
import { spawnServer } from "../../support/server-process.ts";
import { describeBehindPgBouncer, type OldPostgres } from "./debian-postgres.ts";

describeBehindPgBouncer("the oldest installed PostgreSQL", ({ start }) => {
  let postgres: OldPostgres;
  let superuser: Pick<TestDatabase, "rows">;
  let close: () => Promise<void>;
  beforeAll(async () => {
    postgres = await start();
    const database = openDatabase({
      url: postgres.url,
      prepared: false,
      maxConnections: 2,
      answerTimeoutMs: 30_000,
    });
    await waitForDatabase(database);
    superuser = { rows: (text, values = []) => database.run({ name: "superuser", text }, values) };
    close = () => database.close();
    await migrate(database);
    await addUsers(superuser, 20);
    const written = await readFile(new URL("../../../src/store/schema.sql", import.meta.url), "utf8");
    expect(await dumpSchema(database)).toBe(written);
  });
  afterAll(async () => {
    await close();
    await postgres.stop();
  });

  it("compiles nothing in a transaction, where a table without an index in use seems expensive", async () => {
    const database = openDatabase({
      url: postgres.url,
      prepared: false,
      maxConnections: 1,
      answerTimeoutMs: 30_000,
    });
    const limits = { lockTimeoutMs: 5_000, statementTimeoutMs: 10_000, idleTimeoutMs: 10_000 };
    const explain = { name: "", text: "explain update delivery_retention set open_ids = open_ids" };
    const plan = await inTransaction(database, { ...limits, synchronousCommit: "on" }, (transaction) =>
      transaction.run(explain),
    );
    await database.close();
    const text = JSON.stringify(plan);
    expect(text).toContain("Update on delivery_retention");
    expect(text).not.toContain("JIT");
  });

  it("accepts TLS per sslmode, and only the CA in sslrootcert", async () => {
    const [shown] = await superuser.rows<{ data_directory: string }>("show data_directory");
    const file = (name: string) => join(shown?.data_directory as string, name);
    await promisify(execFile)(
      "openssl",
      [
        ...["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"],
        ...["-addext", "subjectAltName=DNS:localhost", "-keyout", file("server.key")],
        ...["-out", file("server.crt")],
      ],
      (await unprivilegedAccount()) ?? {},
    );
    await superuser.rows("alter system set ssl = on");
    await superuser.rows("select pg_reload_conf()");
    const isEncrypted = async (query: string) => {
      const database = openDatabase({
        url: `${postgres.url.replace("127.0.0.1", "localhost")}?${query}`,
        prepared: true,
        maxConnections: 1,
        answerTimeoutMs: 30_000,
      });
      const select = { name: "", text: "select ssl from pg_stat_ssl where pid = pg_backend_pid()" };
      return database.run(select).finally(database.close);
    };
    const rootCertificate = `sslrootcert=${file("server.crt")}`;
    // The server reads the certificate soon.
    await eventually(
      () => isEncrypted(`sslmode=verify-full&${rootCertificate}`).catch(() => []),
      [{ ssl: true }],
    );
    expect(await isEncrypted(`sslmode=require&${rootCertificate}`)).toEqual([{ ssl: true }]);
    for (const mode of ["verify-full", "require"])
      await expect(isEncrypted(`sslmode=${mode}`)).rejects.toBeInstanceOf(DatabaseUnavailable);
    // The default authorities: not a file.
    await expect(isEncrypted("sslrootcert=system")).rejects.toThrow("self-signed certificate");
    expect(await isEncrypted("")).toEqual([{ ssl: false }]);
  });

  it.each([
    ["directly, with prepared statements", "direct", { DATABASE_PREPARED: "on" }],
    ["through PgBouncer in transaction mode, without them", "pooled", { DATABASE_PREPARED: "off" }],
  ])("serves two processes %s", async (_, run, variables) => {
    const url = run === "pooled" ? postgres.pooledUrl : postgres.url;
    const servers = await Promise.all([1, 2].map(() => spawnServer(url, variables)));
    const events = 500;
    const responses = await Promise.all(
      servers.flatMap((server) =>
        Array.from({ length: events }, (_unused, n) =>
          deliverUntilAnswered(server.url, "provider-a", numberedEvent(run, n)),
        ),
      ),
    );
    expect(responses.filter((answer) => answer.status !== 200)).toEqual([]);
    // At least: a delivery whose response got lost was sent again, and is a duplicate too.
    expect(responses.filter((answer) => answer.body.duplicate).length).toBeGreaterThanOrEqual(events);
    await expectEachAppliedOnce({ rows: superuser.rows }, run, events);
    // A setting of one transaction must not reach the next one on a shared connection.
    expect(await superuser.rows("show synchronous_commit")).toEqual([{ synchronous_commit: "on" }]);
    for (const server of servers) expect((await server.end("SIGTERM")).code).toBe(0);
  });
});
