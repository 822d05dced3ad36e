import { afterAll, beforeAll, expect, it } from "vitest";
import { median } from "../../bench/shared/statistics.ts";
import { openDatabase } from "../../src/store/database.ts";
import { migrate } from "../../src/store/migrate.ts";
import { addUsers } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { describeWith, findPostgresPrograms } from "../support/installed-programs.ts";
import { type ServerProcess, spawnServer } from "../support/server-process.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import { expectHistoryKept, historyFigures, LOAD_USERS, startEventLoad } from "./event-load.ts";
import { isFullProof, report } from "./proof.ts";
import { type ReplicatedPostgres, startReplicatedPostgres } from "./replicated-postgres.ts";

const KILLS = Number(process.env.KILLS ?? (isFullProof ? 100 : 1));
const PER_SECOND = isFullProof ? 500 : 100;
/** The promise is of a machine that has time for it. */
const MAX_WRITABLE_MS = 10_000;
/** How long an asynchronous standby's log is under way. */
const DELAYS_MS = isFullProof ? [0, 100, 1_000] : [100];

describeWith("a failover of PostgreSQL", { postgresql: findPostgresPrograms() }, ({ postgresql }) => {
  /** Between the primary and its standby. */
  let network: TcpProxy;
  let postgres: ReplicatedPostgres;
  let server: ServerProcess;
  beforeAll(async () => {
    network = await startTcpProxy(0);
    postgres = await startReplicatedPostgres(postgresql, async (primaryPort) => {
      network.leadTo(primaryPort);
      return network.port;
    });
    await migrateAt(postgres.url);
    await addUsers(postgres.primary(), LOAD_USERS);
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
    const startedAt = performance.now();
    const killed: string[] = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      await load.more(PER_SECOND);
      const killedAt = performance.now();
      await postgres.primary().signal("SIGKILL");
      await postgres.promote();
      const writableMs = await load.untilAcknowledgedMs(killedAt);
      writableAfterMs.push(writableMs);
      killed.push(`${Math.round((killedAt - startedAt) / 1_000)} s (${writableMs} ms)`);
      await load.more(PER_SECOND / 2);
      await postgres.rejoin();
    }
    await load.more(PER_SECOND);
    const history = await load.stop();
    await expectHistoryKept(postgres.primary(), "failover", history);
    const longestMs = Math.max(...writableAfterMs);
    await report(
      "failover",
      {
        kills: KILLS,
        "events per second": PER_SECOND,
        ...historyFigures(history),
        lost: 0,
        doubled: 0,
        "median ms until writable": median(writableAfterMs),
        "longest ms until writable": longestMs,
      },
      [`primaries killed after (writable after): ${killed.join(", ")}`],
    );
    if (isFullProof) expect(longestMs).toBeLessThan(MAX_WRITABLE_MS);
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

  it.each(DELAYS_MS)(
    "loses only what an asynchronous standby %d ms away had not received",
    {
      timeout: 600_000,
    },
    async (delayMs) => {
      await postgres.setSynchronous(false);
      network.set({ delayMs });
      const run = `delay${delayMs}`;
      const load = startEventLoad([server.url], run, PER_SECOND);
      await load.more(2 * PER_SECOND);
      network.cut();
      await postgres.primary().signal("SIGKILL");
      await postgres.promote();
      network.restore();
      const { answers } = await load.stop();
      await postgres.rejoin();
      type Row = { stored: number; applied: number };
      const [row] = await postgres.primary().rows<Row>(
        `select count(*)::int as stored, count(s.id)::int as applied from webhook_delivery d
       left join subscription s on s.provider_subscription_id = d.event_id where d.event_id like $1`,
        [`${run}-%`],
      );
      const { stored, applied } = row as Row;
      expect(applied).toBe(stored);
      const lost = answers.length - stored;
      await report("failover", {
        "asynchronous standby, ms away": delayMs,
        "events per second": PER_SECOND,
        "acknowledged and lost": lost,
      });
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
