import { setTimeout as sleep } from "node:timers/promises";
import { assertArrived, TOLLGATE_TABLES } from "./arrived.ts";
import type { Bench } from "./contender.ts";
import { startTollgate } from "./contenders.ts";
import { interruption } from "./interruption.ts";
import { note } from "./note.ts";
import { tidy } from "./postgres.ts";
import { openSender, type Sender } from "./sender.ts";
import { expectLast, signedRequest } from "./signed-events.ts";
import { median, quantile } from "./statistics.ts";

export type Offered = {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
  /** How late the sender itself was, at the 99th percentile: part of the above. */
  senderLateMs: number;
  rounds: OfferedRound[];
};

type OfferedRound = { p50Ms: number; p99Ms: number; maxMs: number; senderLateMs: number };

const PER_SECOND = 1_000;

/** Events at a steady pace, whatever the answers: how long each took from the moment at which it was due. */
export async function measureOffered(bench: Bench): Promise<Offered> {
  const { options } = bench;
  const tollgate = await startTollgate(bench, "tollgate-offered");
  try {
    let next = options.subscriptions;
    const expected = new Map<number, number>();
    const round = async (seconds: number) => {
      const count = PER_SECOND * seconds;
      const requests = Array.from({ length: count }, (_, index) => signedRequest(next + index, options));
      await tidy(tollgate.databaseUrl);
      const mark = await TOLLGATE_TABLES.mark(tollgate.databaseUrl);
      const sender = await openSender(tollgate.process.port, options.connections);
      const measured = await sendAtPace(sender, requests).finally(() => sender.close());
      expectLast(expected, { first: next, count }, options);
      next += count;
      const sent = { handed: count, answered: count, mark, expected };
      await assertArrived({ databaseUrl: tollgate.databaseUrl, ledger: TOLLGATE_TABLES }, sent);
      return measured;
    };
    await round(options.warmUpSeconds);
    const rounds: OfferedRound[] = [];
    for (let number = 1; number <= options.rounds; number += 1) {
      rounds.push(await round(options.seconds));
      note(`offered: round ${number} of ${options.rounds}: p99 ${rounds.at(-1)?.p99Ms.toFixed(1)} ms`);
    }
    return {
      perSecond: PER_SECOND,
      p50Ms: median(rounds.map((one) => one.p50Ms)),
      p99Ms: median(rounds.map((one) => one.p99Ms)),
      maxMs: Math.max(...rounds.map((one) => one.maxMs)),
      senderLateMs: median(rounds.map((one) => one.senderLateMs)),
      rounds,
    };
  } finally {
    await tollgate.stop();
  }
}

async function sendAtPace(sender: Sender, requests: readonly string[]): Promise<OfferedRound> {
  const times = new Float64Array(requests.length);
  const lateness = new Float64Array(requests.length);
  const answers: Promise<void>[] = [];
  let failure: Error | null = null;
  const startedAt = performance.now() + 50;
  let sent = 0;
  while (sent < requests.length) {
    while (sent < requests.length && dueAt(startedAt, sent) <= performance.now()) {
      const index = sent;
      sent += 1;
      lateness[index] = performance.now() - dueAt(startedAt, index);
      answers.push(
        sender.send(requests[index] as string).then(
          () => {
            times[index] = performance.now() - dueAt(startedAt, index);
          },
          (error) => {
            failure ??= error;
          },
        ),
      );
    }
    interruption.throwIfAborted();
    if (failure) throw failure;
    await sleep(1);
  }
  await Promise.all(answers);
  if (failure) throw failure;
  times.sort();
  lateness.sort();
  return {
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
    maxMs: quantile(times, 1),
    senderLateMs: quantile(lateness, 0.99),
  };
}

function dueAt(startedAt: number, index: number): number {
  return startedAt + (index * 1_000) / PER_SECOND;
}
