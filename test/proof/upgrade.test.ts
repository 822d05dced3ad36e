import { execFileSync } from "node:child_process";
import { readFile, symlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { migrate, pendingMigrations } from "../../src/store/migrate.ts";
import { numberedEvent } from "../fixtures/numbered-event.ts";
import { cleanedUp } from "../support/cleanup.ts";
import { addUsers, emptyDatabase, type TestDatabase } from "../support/database.ts";
import { deliverWebhook, sendRequest } from "../support/http.ts";
import { expectEachAppliedOnce } from "../support/ledger.ts";
import { type ServerProcess, spawnServer } from "../support/server-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { isFullProof, report } from "./proof.ts";

const LOGGED_DELIVERIES = 200_000;
/** With each set of servers, after the migration. */
const EVENTS = 2_000;
const SENDERS = 8;
const RUN = "upgrade";

/**
 * It needs the history and packages of the previous release: the suite tests the migrations with its SQL
 * alone.
 */
describe.runIf(isFullProof)("a rolling deploy from the previous release", () => {
  let test: TestDatabase;
  let previous: { folder: string; commit: string };
  let sent = 0;
  beforeAll(async () => {
    previous = await checkOutPreviousRelease();
    test = await emptyDatabase();
  }, 600_000);
  afterAll(() => test?.drop());

  const startPrevious = () => spawnServer(test.url, {}, join(previous.folder, "src/server.ts"));

  it("answers every event with 200 and applies it once, whichever server gets it", {
    timeout: 900_000,
  }, async () => {
    // Its start makes the schema that is migrated afterwards.
    let old = await startPrevious();
    await addUsers(test, 20);
    await addHistory(test);
    expect(await pendingMigrations(test.database)).toContain("0010_write_once.sql");

    const startedAt = performance.now();
    let migrating = true;
    const [migrated, sentDuring] = await Promise.all([
      migrate(test.database).finally(() => {
        migrating = false;
      }),
      sendWhile(() => migrating, [old]),
    ]);
    const migrationMs = Math.round(performance.now() - startedAt);
    expect(migrated).toContain("0010_write_once.sql");
    expect(sentDuring).toBeGreaterThan(0);

    const current = await spawnServer(test.url);
    await sendWhile(upTo(EVENTS), [old, current]);
    await old.end("SIGTERM");
    await sendWhile(upTo(EVENTS), [current]);

    // The deploy is rolled back: a server of the previous release starts on the new schema.
    old = await startPrevious();
    await sendWhile(upTo(EVENTS), [current, old]);
    await current.end("SIGTERM");
    await sendWhile(upTo(EVENTS), [old]);
    expect((await sendRequest(old.url, "GET", "/api/ready")).status).toBe(200);
    await old.end("SIGTERM");

    await expectEachAppliedOnce(test, RUN, sent);
    await report("upgrade", {
      from: previous.commit.slice(0, 7),
      loggedDeliveries: LOGGED_DELIVERIES,
      migrationMs,
      sentDuring,
      sent,
    });
  });

  /**
   * Sends each event to a server, and to the next one at the same time. Resolves with the number of events.
   */
  async function sendWhile(goesOn: () => boolean, servers: ServerProcess[]): Promise<number> {
    const first = sent;
    await Promise.all(
      Array.from({ length: SENDERS }, async () => {
        while (goesOn()) await sendTwice(sent++, servers);
      }),
    );
    return sent - first;
  }

  async function sendTwice(n: number, servers: ServerProcess[]): Promise<void> {
    const event = numberedEvent(RUN, n);
    const to = (at: number) => (servers[at % servers.length] as ServerProcess).url;
    const responses = await Promise.all([
      deliverWebhook(to(n), "provider-a", event),
      deliverWebhook(to(n + 1), "provider-a", event),
    ]);
    const answers = responses.map(({ status, body }) => ({ status, ...body }));
    const logs = servers.map(({ lines }) => lines.slice(-10).join("\n")).join("\n\n");
    // In whichever order.
    expect(answers, logs).toContainEqual({ status: 200, received: true });
    expect(answers, logs).toContainEqual({ status: 200, received: true, duplicate: true });
  }
});

function upTo(count: number): () => boolean {
  let remaining = count;
  return () => remaining-- > 0;
}

/** Finished deliveries and their subscriptions, as the previous release left them. */
async function addHistory(test: TestDatabase): Promise<void> {
  await test.rows(
    `insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source, payload)
     select 'provider-a', 'old-' || n, 'x', 'stripe', 'successful', 'delivery', '{}'
     from generate_series(1, ${LOGGED_DELIVERIES}) n`,
  );
  await test.rows(
    `insert into webhook_attempt (delivery_id, claim_no, source, outcome, started_at, duration_ms)
     select id, 1, 'delivery', 'successful', now(), 1 from webhook_delivery where event_id like 'old-%'`,
  );
  await test.rows(
    `insert into subscription (id, user_id, provider, provider_subscription_id, plan_id, seats, status,
       cancel_at_period_end, out_of_order)
     select gen_random_uuid(), 'user_' || n % 20, 'provider-a', 'old-' || n, 'team', 1, 'active', false, false
     from generate_series(1, 5000) n`,
  );
}

const PROJECT = resolve(import.meta.dirname, "../..");

/** Every migration of the previous release is numbered 0001 to 0009. */
const LATER_MIGRATIONS = "src/store/migrations/00[1-9]*.sql";

/**
 * Checks out the newest commit without this release's migrations into a temporary work tree, with the
 * packages of its own lock file. Removed after the test file.
 */
async function checkOutPreviousRelease(): Promise<{ folder: string; commit: string }> {
  const commit = previousCommit();
  const parent = await temporaryFolder();
  const folder = join(parent, "tollgate");
  cleanedUp(async () => {
    git("worktree", "remove", "--force", folder);
  });
  git("worktree", "add", "--detach", folder, commit);
  await providePackages(folder);
  return { folder, commit };
}

/** @throws Error when the history does not go back that far */
function previousCommit(): string {
  const shallow = "The previous release is not in this clone's history: git fetch --unshallow";
  const added = git("log", "--reverse", "--diff-filter=A", "--format=%H", "--", LATER_MIGRATIONS);
  const [first] = added.split("\n");
  if (!first) throw new Error(shallow);
  // A shallow clone adds all files in its oldest commit, which has no parent.
  const [, parent] = git("rev-list", "--parents", "-1", first).split(" ");
  if (!parent) throw new Error(shallow);
  return parent;
}

async function providePackages(folder: string): Promise<void> {
  const lock = (root: string) => readFile(join(root, "package-lock.json"), "utf8");
  if ((await lock(folder)) === (await lock(PROJECT))) {
    await symlink(join(PROJECT, "node_modules"), join(folder, "node_modules"));
    return;
  }
  // Its server runs on this Node and on the PostgreSQL of the tests: nothing has to be downloaded by scripts.
  const options = [
    "--no-save",
    "--ignore-scripts",
    "--omit=dev",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
  ];
  execFileSync("npm", ["install", ...options], { cwd: folder, stdio: "inherit" });
}

function git(...args: string[]): string {
  return execFileSync("git", args, { cwd: PROJECT, encoding: "utf8" }).trim();
}
