import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openDatabase } from "../../src/store/database.ts";
import { migrate } from "../../src/store/migrate.ts";
import { addUsers } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { describeWith, findPostgresPrograms } from "../support/installed-programs.ts";
import { type ReplicatedPostgres, startReplicatedPostgres } from "../support/replicated-postgres.ts";
import { type ServerProcess, spawnServer } from "../support/server-process.ts";
import { expectHistoryKept, historyFigures, median, startEventLoad } from "./event-load.ts";
import { isFullProof, report } from "./proof.ts";

const KILLS = Number(process.env.KILLS ?? (isFullProof ? 100 : 2));
const PER_SECOND = isFullProof ? 500 : 100;
/** Of an asynchronous standby, behind by as long as it is stopped for. */
const LAGS_MS = isFullProof ? [0, 200, 1_000] : [200];

describeWith("a failover of PostgreSQL", { postgresql: findPostgresPrograms() }, ({ postgresql }) => {
  let postgres: ReplicatedPostgres;
  let server: ServerProcess;
  beforeAll(async () => {
    postgres = await startReplicatedPostgres(postgresql);
    await migrateAt(postgres.url);
    await addUsers(postgres.primary(), 20);
    server = await spawnServer(postgres.url, { LOG_LEVEL_ONCE_LISTENING: "fatal" });
  });
  afterAll(async () => {
    await server?.end("SIGTERM");
    await postgres?.remove();
  });

  it(`loses and doubles no acknowledged event over ${KILLS} kills of the primary`, {
    timeout: 600_000 + KILLS * 120_000,
  }, async () => {
    const load = startEventLoad([server.url], "failover", PER_SECOND);
    const writableAfterMs: number[] = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      await load.more(PER_SECOND);
      const killedAt = performance.now();
      await postgres.primary().signal("SIGKILL");
      await postgres.promote();
      writableAfterMs.push(await load.untilAcknowledgedMs(killedAt));
      await load.more(PER_SECOND / 2);
      await postgres.rejoin();
    }
    await load.more(PER_SECOND);
    const history = await load.stop();
    await expectHistoryKept(postgres.primary(), "failover", history);
    await report("failover", {
      kills: KILLS,
      "events per second": PER_SECOND,
      ...historyFigures(history),
      lost: 0,
      doubled: 0,
      "median ms until writable": median(writableAfterMs),
      "longest ms until writable": Math.max(...writableAfterMs),
    });
  });

  it("commits nothing on a former primary that was stopped and continues", { timeout: 600_000 }, async () => {
    const load = startEventLoad([server.url], "fenced", PER_SECOND);
    await load.more(PER_SECOND);
    const former = postgres.primary();
    await former.signal("SIGSTOP");
    await postgres.promote();
    await former.signal("SIGCONT");
    // Its commits wait for a standby that has left it. Connections to it may last until somebody ends it.
    const [acknowledged, deliveries] = [load.acknowledged(), load.history.answers.length];
    await eventually(
      async () =>
        load.acknowledged() - acknowledged >= PER_SECOND ||
        load.history.answers.slice(0, deliveries).some((answers) => answers.includes(503)),
      true,
    );
    await former.signal("SIGKILL");
    await load.more(PER_SECOND);
    await postgres.rejoin();
    await expectHistoryKept(postgres.primary(), "fenced", await load.stop());
  });

  it.each(LAGS_MS)(
    "loses acknowledged events when a standby that is %d ms behind is not waited for",
    {
      timeout: 600_000,
    },
    async (lagMs) => {
      await postgres.setSynchronous(false);
      const run = `lag${lagMs}`;
      const load = startEventLoad([server.url], run, PER_SECOND);
      await load.more(PER_SECOND);
      if (lagMs > 0) await postgres.standby().signal("SIGSTOP");
      await sleep(lagMs);
      await postgres.primary().signal("SIGKILL");
      await postgres.standby().signal("SIGCONT");
      await postgres.promote();
      const { answers } = await load.stop();
      const [stored] = await postgres
        .primary()
        .rows<{ count: number }>(
          "select count(*)::int as count from webhook_delivery where event_id like $1",
          [`${run}-%`],
        );
      const lost = answers.length - (stored?.count ?? 0);
      await report("failover", { "asynchronous standby behind by ms": lagMs, events: answers.length, lost });
      await postgres.rejoin();
    },
  );
});

async function migrateAt(url: string): Promise<void> {
  const database = openDatabase({ url, prepared: false, maxConnections: 2, answerTimeoutMs: 30_000 });
  try {
    await migrate(database);
  } finally {
    await database.close();
  }
}
