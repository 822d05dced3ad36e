import { mock } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Decision, Limiter } from "./contender.ts";
import { CONTENDERS, openerOf } from "./contenders.ts";
import { EPISODES, type Episode, type Trial } from "./episodes.ts";
import { type Call, judge, type Law, type Verdict, worst } from "./judge.ts";
import { openLimiter } from "./open-limiter.ts";
import type { Turn } from "./turn.ts";

export type Accuracy = Verdict & { limit: number };

type Clock = { now(): number; wait(ms: number): Promise<void> };

const LIMIT = 30;
const WINDOW_SECONDS = 1;
const STARTS_AT = Date.UTC(2026, 0, 1);
/** Episodes on Redis start so far from each other, and run side by side. */
const APART_MS = 130;

/**
 * In memory on a clock that is driven, millisecond by millisecond; on Redis, whose clock cannot be, as time
 * goes by.
 */
export async function accuracy(turn: Turn): Promise<Accuracy> {
  const verdicts = CONTENDERS[turn.contender].store === "memory" ? await driven(turn) : await real(turn);
  return { ...worst(verdicts), limit: LIMIT };
}

async function driven({ contender, redis }: Turn): Promise<Verdict[]> {
  const open = await openerOf(contender);
  mock.timers.enable({ apis: ["Date", "setTimeout", "setInterval"], now: STARTS_AT });
  const now = () => Date.now();
  const clock: Clock = {
    now,
    wait: async (ms) => mock.timers.tick(Math.ceil(ms)),
  };
  const limiter = await open({ limit: LIMIT, windowSeconds: WINDOW_SECONDS, redisPort: redis.port, now });
  const law = lawOf({ tickMs: 1, roundedUpMs: 0 });
  const verdicts: Verdict[] = [];
  for (const [number, episode] of EPISODES.entries()) {
    const key = `${CONTENDERS[contender].keyPrefix}user_${number}`;
    verdicts.push(judge(await callsOf(episode, { limiter, key, clock, nearMs: 1 }), law));
    await clock.wait(3 * law.windowMs);
  }
  mock.timers.reset();
  await limiter.close();
  return verdicts;
}

async function real(turn: Turn): Promise<Verdict[]> {
  const limiter = await openLimiter(turn, { limit: LIMIT, windowSeconds: WINDOW_SECONDS });
  const clock: Clock = {
    now: () => performance.timeOrigin + performance.now(),
    wait: (ms) => sleep(ms),
  };
  const law = lawOf({ tickMs: 0, roundedUpMs: 1 });
  const verdicts = await Promise.all(
    EPISODES.map(async (episode, number) => {
      const key = `${CONTENDERS[turn.contender].keyPrefix}user_${number}`;
      await sleep(number * APART_MS);
      return judge(await callsOf(episode, { limiter, key, clock, nearMs: 20 }), law);
    }),
  );
  await limiter.close();
  return verdicts;
}

function lawOf(clock: Pick<Law, "tickMs" | "roundedUpMs">): Law {
  return { limit: LIMIT, windowMs: WINDOW_SECONDS * 1_000, ...clock };
}

async function callsOf(
  episode: Episode,
  { limiter, key, clock, nearMs }: { limiter: Limiter; key: string; clock: Clock; nearMs: number },
): Promise<Call[]> {
  const calls: Call[] = [];
  const once = async (): Promise<Call> => {
    const sentAt = clock.now();
    const decision = await limiter.ask(key);
    const answeredAt = clock.now();
    const call = { sentAt, answeredAt, allowed: decision.allowed, resetAt: resetAtOf(decision, answeredAt) };
    calls.push(call);
    return call;
  };
  const trial: Trial = {
    limit: LIMIT,
    windowMs: WINDOW_SECONDS * 1_000,
    nearMs,
    ask: async (times) => {
      for (let sent = 1; sent < times; sent += 1) await once();
      return once();
    },
    wait: clock.wait,
    waitForFullSecond: (msBefore) => clock.wait(1_000 + ((1_000 - msBefore - (clock.now() % 1_000)) % 1_000)),
    now: clock.now,
  };
  await episode(trial);
  return calls;
}

function resetAtOf({ resetAt, waitMs }: Decision, answeredAt: number): number | null {
  if (resetAt !== undefined) return resetAt;
  return waitMs === undefined ? null : answeredAt + waitMs;
}
