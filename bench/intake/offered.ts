import { note } from "../shared/note.ts";
import { type Paced, sendAtPace } from "../shared/pace.ts";
import { tidy } from "../shared/postgres.ts";
import { openSender } from "../shared/sender.ts";
import { median } from "../shared/statistics.ts";
import { assertArrived, TOLLGATE_TABLES } from "./arrived.ts";
import type { Bench } from "./contender.ts";
import { startTollgate } from "./contenders.ts";
import { expectLast, signedRequest } from "./signed-events.ts";
import { startSqlContender } from "./sql-contender.ts";

/** Medians of the rounds, and the longest of all. */
export type Offered = Paced & {
  perSecond: number;
  /** Of the bare SQL in one statement, offered at the same pace by pgbench, round by round with Tollgate. */
  sqlP99Ms: number;
  rounds: Paced[];
  sqlRoundsP99Ms: number[];
};

const PER_SECOND = 1_000;

/** Events at a steady pace, whatever the answers: how long each took from the moment at which it was due. */
export async function measureOffered(bench: Bench): Promise<Offered> {
  const { options } = bench;
  const tollgate = await startTollgate(bench, "tollgate-offered");
  try {
    const sql = await startSqlContender(bench, "sql-one-statement", {
      perSecond: PER_SECOND,
      database: "sql-offered",
    });
    await sql.round(options.warmUpSeconds);
    let next = options.subscriptions;
    const expected = new Map<number, number>();
    const round = async (seconds: number) => {
      const count = PER_SECOND * seconds;
      const requests = Array.from({ length: count }, (_, index) => signedRequest(next + index, options));
      await tidy(tollgate.databaseUrl);
      const mark = await TOLLGATE_TABLES.mark(tollgate.databaseUrl);
      const sender = await openSender(tollgate.process.port, options.connections);
      const measured = await sendAtPace(sender, requests, PER_SECOND).finally(() => sender.close());
      expectLast(expected, { first: next, count }, options);
      next += count;
      const sent = { handed: count, answered: count, mark, expected };
      await assertArrived({ databaseUrl: tollgate.databaseUrl, ledger: TOLLGATE_TABLES }, sent);
      return measured;
    };
    await round(options.warmUpSeconds);
    const rounds: Paced[] = [];
    const sqlRoundsP99Ms: number[] = [];
    for (let number = 1; number <= options.rounds; number += 1) {
      rounds.push(await round(options.seconds));
      sqlRoundsP99Ms.push((await sql.round(options.seconds)).p99Ms);
      const [ours, theirs] = [rounds.at(-1)?.p99Ms ?? Number.NaN, sqlRoundsP99Ms.at(-1) ?? Number.NaN];
      note(
        `offered: round ${number} of ${options.rounds}: p99 ${ours.toFixed(1)} ms, bare SQL ${theirs.toFixed(1)} ms`,
      );
    }
    return {
      perSecond: PER_SECOND,
      p50Ms: median(rounds.map((round) => round.p50Ms)),
      p99Ms: median(rounds.map((round) => round.p99Ms)),
      maxMs: Math.max(...rounds.map((round) => round.maxMs)),
      senderLateMs: median(rounds.map((round) => round.senderLateMs)),
      sqlP99Ms: median(sqlRoundsP99Ms),
      rounds,
      sqlRoundsP99Ms,
    };
  } finally {
    await tollgate.stop();
  }
}
