import pg from "pg";
import { BrokenMeasurement } from "../shared/broken.ts";
import { note } from "../shared/note.ts";
import { openSender } from "../shared/sender.ts";
import { median, quantile } from "../shared/statistics.ts";
import type { Bench } from "./contender.ts";
import { startTollgate } from "./contenders.ts";
import { type EventShape, signedRequest, subscriptionId } from "./signed-events.ts";

type Rate = { perSecond: number; p99Ms: number; maxMs: number };

/** The events of all other subscriptions, while one is locked by a transaction and while none is. */
export type Locked = { free: Rate; locked: Rate; ratio: number };

const SENDERS = 64;

/** 64 senders, of which one sends events of the subscription that is locked in every second round. */
export async function measureLocked(bench: Bench): Promise<Locked> {
  const { options } = bench;
  const tollgate = await startTollgate(bench, "tollgate-locked");
  const holder = new pg.Client({ connectionString: tollgate.databaseUrl });
  await holder.connect();
  let next = 1;
  const round = async (seconds: number, isLocked: boolean): Promise<Rate> => {
    if (isLocked) {
      await holder.query("begin");
      const { rowCount } = await holder.query(
        "select from subscription where provider_subscription_id = $1 for update",
        [subscriptionId(0)],
      );
      if (rowCount !== 1) throw new BrokenMeasurement("the subscription to be locked does not exist");
    }
    const measured = await sendBesides(tollgate.process.port, options, next, seconds).finally(() =>
      isLocked ? holder.query("rollback") : null,
    );
    next += measured.used;
    return measured;
  };
  try {
    await round(options.warmUpSeconds, false);
    const rounds: Record<"free" | "locked", Rate[]> = { free: [], locked: [] };
    for (let number = 1; number <= options.rounds; number += 1) {
      for (const name of ["free", "locked"] as const) {
        const rate = await round(options.seconds, name === "locked");
        rounds[name].push(rate);
        note(
          `${name}: round ${number} of ${options.rounds}: ${Math.round(rate.perSecond)}/s, p99 ${rate.p99Ms.toFixed(1)} ms`,
        );
      }
    }
    const [free, locked] = [middle(rounds.free), middle(rounds.locked)];
    return { free, locked, ratio: locked.perSecond / free.perSecond };
  } finally {
    await holder.end();
    await tollgate.stop();
  }
}

function middle(rates: readonly Rate[]): Rate {
  return {
    perSecond: median(rates.map((rate) => rate.perSecond)),
    p99Ms: median(rates.map((rate) => rate.p99Ms)),
    maxMs: Math.max(...rates.map((rate) => rate.maxMs)),
  };
}

/** @param pass which events of the subscriptions come next: each has one per pass */
async function sendBesides(port: number, shape: EventShape, pass: number, seconds: number) {
  const others = await openSender(port, SENDERS - 1);
  const ownSender = await openSender(port, 1);
  const until = performance.now() + seconds * 1_000;
  const times: number[] = [];
  let used = 0;
  const loop = async (sender: number) => {
    for (let turn = 0; performance.now() < until; turn += 1) {
      const index = 1 + ((sender + turn * (SENDERS - 1)) % (shape.subscriptions - 1));
      const round = pass + Math.floor((sender + turn * (SENDERS - 1)) / (shape.subscriptions - 1));
      used = Math.max(used, round - pass + 1);
      const startedAt = performance.now();
      await others.send(signedRequest(round * shape.subscriptions + index, shape));
      times.push(performance.now() - startedAt);
    }
  };
  let isOver = false;
  const held = (async () => {
    // Its answers may be 503: only the others count.
    for (let round = pass; !isOver && performance.now() < until; round += 1) {
      await ownSender.exchange(signedRequest(round * shape.subscriptions, shape)).catch(() => {});
      used = Math.max(used, round - pass + 1);
    }
  })();
  try {
    await Promise.all(Array.from({ length: SENDERS - 1 }, (_, sender) => loop(sender)));
    isOver = true;
  } finally {
    others.close();
    ownSender.close();
  }
  void held;
  times.sort((a, b) => a - b);
  return {
    used,
    perSecond: times.length / seconds,
    p99Ms: quantile(times, 0.99),
    maxMs: quantile(times, 1),
  };
}
