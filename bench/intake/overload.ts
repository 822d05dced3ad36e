import { setTimeout as sleep } from "node:timers/promises";
import { residentMegabytes } from "../shared/cpu.ts";
import { interruption } from "../shared/interruption.ts";
import { note } from "../shared/note.ts";
import { openSender, type Sender } from "../shared/sender.ts";
import { median } from "../shared/statistics.ts";
import type { Bench } from "./contender.ts";
import { startTollgate } from "./contenders.ts";
import { signedRequest } from "./signed-events.ts";

export type Overload = {
  /** Sent as fast as answered. */
  bestPerSecond: number;
  offeredPerSecond: number;
  /** Applied while three times as many were offered: the median second. */
  goodputPerSecond: number;
  goodputRatio: number;
  refused: number;
  /** Offered, but all connections were waiting for an answer. */
  unsent: number;
  residentMegabytesBefore: number | null;
  residentMegabytesPeak: number | null;
  /** After the overload, until a second of half the best rate without any refusal. */
  recoveredAfterSeconds: number | null;
};

const OVERLOAD_SECONDS = 60;
const OVERLOAD_FACTOR = 3;
const CONNECTIONS = 4_000;
const WATCH_SECONDS = 20;

type Second = { applied: number; refused: number; unsent: number };

/** Offers three times what is possible for a minute, then half of it. */
export async function measureOverload(bench: Bench): Promise<Overload> {
  const { options } = bench;
  const tollgate = await startTollgate(bench, "tollgate-overload");
  const { pid, port } = tollgate.process;
  const sender = await openSender(port, CONNECTIONS);
  let next = options.subscriptions;
  const request = () => {
    next += 1;
    return signedRequest(next, options);
  };
  try {
    await asFastAsAnswered(port, options.connections, options.warmUpSeconds, request);
    const best = await asFastAsAnswered(port, options.connections, options.seconds, request);
    note(`overload: best ${Math.round(best)}/s`);
    const residentMegabytesBefore = residentMegabytes(pid);
    let peak = residentMegabytesBefore;
    const watch = () => {
      const now = residentMegabytes(pid);
      if (now !== null && (peak === null || now > peak)) peak = now;
    };
    const offered = OVERLOAD_FACTOR * best;
    const during = await offer(sender, {
      perSecond: offered,
      seconds: OVERLOAD_SECONDS,
      request,
      watch,
    });
    const after = await offer(sender, { perSecond: best / 2, seconds: WATCH_SECONDS, request, watch });
    const recovered = after.findIndex(({ applied, refused }) => refused === 0 && applied > 0.9 * (best / 2));
    const goodput = median(during.map(({ applied }) => applied));
    return {
      bestPerSecond: best,
      offeredPerSecond: offered,
      goodputPerSecond: goodput,
      goodputRatio: goodput / best,
      refused: during.reduce((sum, { refused }) => sum + refused, 0),
      unsent: during.reduce((sum, { unsent }) => sum + unsent, 0),
      residentMegabytesBefore,
      residentMegabytesPeak: peak,
      recoveredAfterSeconds: recovered < 0 ? null : recovered,
    };
  } finally {
    sender.close();
    await tollgate.stop();
  }
}

async function asFastAsAnswered(port: number, connections: number, seconds: number, request: () => string) {
  const sender = await openSender(port, connections);
  const until = performance.now() + seconds * 1_000;
  let answered = 0;
  const loop = async () => {
    while (performance.now() < until) {
      await sender.send(request());
      answered += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, loop)).finally(() => sender.close());
  return answered / seconds;
}

type Offer = { perSecond: number; seconds: number; request: () => string; watch: () => void };

/** Each second's outcome, by when the answer came. */
async function offer(sender: Sender, { perSecond, seconds, request, watch }: Offer): Promise<Second[]> {
  const all: Second[] = Array.from({ length: seconds }, () => ({ applied: 0, refused: 0, unsent: 0 }));
  const startedAt = performance.now();
  const now = () => Math.floor((performance.now() - startedAt) / 1_000);
  let due = 0;
  for (let second = 0; now() < seconds; ) {
    if (now() > second) {
      second = now();
      watch();
    }
    const until = ((performance.now() - startedAt) / 1_000) * perSecond;
    for (; due < until; due += 1) {
      if (sender.free() === 0) {
        const current = all[now()];
        if (current) current.unsent += 1;
        continue;
      }
      void sender.exchange(request()).then(
        ({ status }) => {
          const current = all[now()];
          if (current) current[status === 200 ? "applied" : "refused"] += 1;
        },
        () => {},
      );
    }
    interruption.throwIfAborted();
    await sleep(1);
  }
  return all;
}
