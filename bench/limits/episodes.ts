import { createRng } from "../../src/simulator/scenario/rng.ts";

/** One key's history in the making. */
export type Trial = {
  limit: number;
  windowMs: number;
  /** How close to a point in time a request can be placed. */
  nearMs: number;
  /** Asks so many times, one after the other. @returns the last answer */
  ask(times: number): Promise<{ allowed: boolean; resetAt: number | null }>;
  wait(ms: number): Promise<void>;
  /** Until so long before the next full second by the clock, where windows by the clock begin. */
  waitForFullSecond(msBefore: number): Promise<void>;
  now(): number;
};

export type Episode = (trial: Trial) => Promise<void>;

/** Where limiters go wrong: at the edges of windows of any kind, after refusals, and in the steady state. */
export const EPISODES: readonly Episode[] = [
  atTheTurnOfTheClock,
  atTheEndOfTheFirstWindow,
  steadilyJustBelow,
  atResetTime,
  ...[1, 2, 3, 4, 5, 6, 7, 8].map((seed) => (trial: Trial) => atRandom(trial, seed)),
];

/** Twice the limit around the moment at which counters by the clock start anew. */
async function atTheTurnOfTheClock(trial: Trial): Promise<void> {
  await trial.waitForFullSecond(trial.nearMs);
  await trial.ask(trial.limit);
  await trial.wait(2 * trial.nearMs);
  await trial.ask(trial.limit + 1);
  await untilAdmitted(trial);
}

/** The same for counters that start with the first request. */
async function atTheEndOfTheFirstWindow(trial: Trial): Promise<void> {
  await trial.ask(1);
  await trial.wait(trial.windowMs - trial.nearMs);
  await trial.ask(trial.limit - 1);
  await trial.wait(2 * trial.nearMs);
  await trial.ask(trial.limit + 1);
  await untilAdmitted(trial);
}

/** Never more than may pass. */
async function steadilyJustBelow(trial: Trial): Promise<void> {
  const gapMs = Math.ceil(trial.windowMs / trial.limit) + 1;
  for (let sent = 0; sent < 2 * trial.limit; sent += 1) {
    await trial.ask(1);
    await trial.wait(gapMs);
  }
}

/** Refused, and sent again at the reset time of the refusal. */
async function atResetTime(trial: Trial): Promise<void> {
  await trial.ask(trial.limit - 5);
  await trial.wait(trial.windowMs / 2);
  for (let times = 0; times < 2; times += 1) {
    const { resetAt } = await trial.ask(6);
    if (resetAt !== null) await trial.wait(Math.max(0, resetAt - trial.now()));
    await trial.ask(trial.limit);
  }
  await untilAdmitted(trial);
}

async function atRandom(trial: Trial, seed: number): Promise<void> {
  const rng = createRng(seed);
  for (let step = 0; step < 12; step += 1) {
    await trial.ask(1 + Math.floor(rng.unit() * 12));
    await trial.wait(Math.floor(rng.unit() * 0.3 * trial.windowMs));
  }
  await trial.ask(trial.limit);
  await untilAdmitted(trial);
}

/** Millisecond by millisecond, so that it is known when it passes. */
async function untilAdmitted(trial: Trial): Promise<void> {
  const giveUpAt = trial.now() + 2.5 * trial.windowMs;
  while (trial.now() < giveUpAt && !(await trial.ask(1)).allowed) await trial.wait(1);
}
