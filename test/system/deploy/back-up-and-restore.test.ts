import { execFile, execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { chown, mkdir, readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openDatabase } from "../../../src/store/database.ts";
import { unprivilegedAccount } from "../../../src/store/embedded/embedded-account.ts";
import { migrate } from "../../../src/store/migrate.ts";
import { waitForDatabase } from "../../../src/store/wait-for-database.ts";
import { numberedEvent } from "../../fixtures/numbered-event.ts";
import { cleanedUp } from "../../support/cleanup.ts";
import { addUsers } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
import { deliverUntilAnswered, deliverWebhook } from "../../support/http.ts";
import { spawnServer } from "../../support/server-process.ts";
import { STRIPE_KEY, type StripeServer, stripeServer } from "../../support/stripe-server.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { serverVariables } from "../../support/variables.ts";
import { describeBehindPgBouncer, type OldPostgres } from "../compatibility/debian-postgres.ts";

const PROJECT = resolve(import.meta.dirname, "../../..");
const GUIDE = readFileSync(join(PROJECT, "docs/how-to/back-up-and-restore.md"), "utf8");
/** The commands of the guide, one per line, as they stand there. */
const COMMANDS = [...GUIDE.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block]) =>
  (block as string).trim().split("\n"),
);

/** What a server connects as: no superuser, and no owner of other databases. */
const ROLE = "tollgate_app";

// The installed PostgreSQL has pg_dump; the embedded one lacks it.
describeBehindPgBouncer("the backup guide, followed line by line,", ({ bin, start }) => {
  let postgres: OldPostgres;
  let folder: string;
  let archive: string;
  /** Just before a mistake that is to be undone. */
  let moment = "";
  let stripe: StripeServer;
  beforeAll(async () => {
    folder = await temporaryFolder();
    archive = join(folder, "archive");
    await mkdir(archive);
    const account = await unprivilegedAccount();
    if (account) await chown(archive, account.uid, account.gid);
    postgres = await start();
    const database = openDatabase({
      url: postgres.url,
      prepared: false,
      maxConnections: 2,
      answerTimeoutMs: 30_000,
    });
    await waitForDatabase(database);
    await migrate(database);
    await database.run({ name: "role", text: `create role ${ROLE} login` });
    await addUsers({ rows: (text, values = []) => database.run({ name: "seed", text }, values) }, 20);
    await database.close();
    stripe = await stripeServer();
    // What the provider lists of the time after the backup.
    const createdNow = Math.floor(Date.now() / 1000);
    stripe.events = [20, 21, 22].map((n) => ({
      ...JSON.parse(numberedEvent("backup", n).rawBody.toString()),
      created: createdNow,
    }));
  });
  afterAll(async () => {
    await stripe.close();
    await postgres.stop();
  });

  it("restores every delivery, finds those after the backup, and repeats stay duplicates", async () => {
    const before = await spawnServer(postgres.url);
    const deliver = async (from: number, to: number) => {
      for (let n = from; n < to; n += 1) {
        const { status } = await deliverUntilAnswered(before.url, "provider-a", numberedEvent("backup", n));
        expect(status).toBe(200);
      }
    };
    await deliver(0, 20);
    const outputs: [program: string, output: string][] = [];
    for (const command of COMMANDS) {
      const program = programOf(command);
      outputs.push([program, await run(command)]);
      // Acknowledged between the backup and the crash: only the provider still knows them.
      if (program === "pg_dump") await deliver(20, 23);
      if (program === "psql") await postgres.restart();
      if (program === "pg_basebackup") {
        await deliver(23, 26);
        moment = await readOne("select clock_timestamp()::text as value");
        await deliver(26, 27);
        await archiveAll();
      }
    }
    await before.end("SIGTERM");
    expect(outputs.map(([program]) => program)).toEqual([
      ...["pg_dump", "createdb", "pg_restore", "npm"],
      ...["psql", "pg_basebackup", "echo", "touch", "echo", "echo"],
      "npm",
    ]);
    const [[, listed = ""] = [], [, reconciled = ""] = []] = outputs.filter(([program]) => program === "npm");
    expect(listed).toMatch(/^20 +provider-a .* successful /m);
    expect(JSON.parse(reconciled)).toBeTypeOf("object");
    expect(await eventsIn(restoredUrl())).toEqual(Array.from({ length: 23 }, (_, n) => `backup-${n}`));

    const after = await spawnServer(restoredUrl());
    for (const n of [7, 21]) {
      const repeat = await deliverWebhook(after.url, "provider-a", numberedEvent("backup", n));
      expect(repeat.body).toEqual({ received: true, duplicate: true });
    }
    const first = await deliverWebhook(after.url, "provider-a", numberedEvent("backup", 27));
    expect([first.status, first.body]).toEqual([200, { received: true }]);
    await after.end("SIGTERM");
  });

  it("replays the archived log on the base backup, up to the moment", async () => {
    const cluster = join(folder, "base-backup");
    const account = await unprivilegedAccount();
    if (account) execFileSync("chown", ["-R", `${account.uid}:${account.gid}`, cluster]);
    const port = await freePort();
    const control = (...args: string[]) =>
      promisify(execFile)(join(bin, "pg_ctl"), [...args, "-D", cluster, "-w"], account ?? {});
    const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=`;
    await control("start", "-l", join(cluster, "log"), "-o", settings);
    const stop = cleanedUp(() => control("stop", "-m", "immediate"));
    const url = new URL(postgres.url);
    url.port = String(port);
    await eventually(() => readOne("select pg_is_in_recovery()::text as value", url.href), "false");
    expect(await eventsIn(url.href)).toEqual(Array.from({ length: 26 }, (_, n) => `backup-${n}`));
    await stop();
  });

  /** Applied events, in order. */
  function eventsIn(url: string): Promise<string[]> {
    return readColumn(
      `select event_id as value from webhook_delivery where status = 'successful'
       order by substr(event_id, 8)::int`,
      url,
    );
  }

  /** Has the log up to now archived. */
  async function archiveAll(): Promise<void> {
    const segment = await readOne("select pg_walfile_name(pg_current_wal_insert_lsn()) as value");
    await readOne("select pg_switch_wal()::text as value");
    await eventually(async () => (await readdir(archive)).includes(segment), true);
  }

  async function readOne(text: string, url = postgres.url): Promise<string> {
    return (await readColumn(text, url))[0] as string;
  }

  async function readColumn(text: string, url: string): Promise<string[]> {
    const database = openDatabase({ url, prepared: false, maxConnections: 1, answerTimeoutMs: 30_000 });
    try {
      return (await database.run<{ value: string }>({ name: text.slice(0, 60), text })).map(
        ({ value }) => value,
      );
    } finally {
      await database.close();
    }
  }

  function restoredUrl(): string {
    const url = new URL(postgres.url);
    url.pathname = "/tollgate_restored";
    url.username = ROLE;
    return url.href;
  }

  async function run(command: string): Promise<string> {
    const env = {
      PROVIDER_A_API_KEY: STRIPE_KEY,
      PROVIDER_A_API_URL: stripe.url,
      ...process.env,
      ...serverVariables(postgres.url),
      PATH: `${bin}:${process.env.PATH}`,
      MAINTENANCE_URL: postgres.url,
      RESTORED_URL: restoredUrl(),
      ARCHIVE: archive,
      MOMENT: moment,
      ROLE,
    };
    const cwd = programOf(command) === "npm" ? PROJECT : folder;
    return (await promisify(execFile)("bash", ["-c", command], { cwd, env })).stdout;
  }
});

/** The first word that sets no variable. */
function programOf(command: string): string {
  return command.split(" ").find((word) => !word.includes("=")) ?? "";
}
