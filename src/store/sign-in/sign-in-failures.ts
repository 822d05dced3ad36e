import type { Queryable } from "../database.ts";

/** When guesses of a password slow down. */
export type GuessPolicy = { freeFailures: number };

/** Failures count together until there has been none for this long. */
const WINDOW = "interval '15 minutes'";
const FORGET_AFTER = "interval '1 hour'";
/** Each further failure makes the wait longer by this much, up to the maximum. */
const STEP_SECONDS = 10;
const MAX_WAIT_SECONDS = 300;

/** What is ahead was counted while the database's clock was, as before a failover: its wait could last for hours. */
const IS_EXPIRED = `(f.last_at < clock_timestamp() - ${FORGET_AFTER} or f.last_at > clock_timestamp() + interval '1 minute'
    or f.failures < $2::int and f.first_at < clock_timestamp() - ${WINDOW})`;

const NEXT_ATTEMPT_AT = `f.last_at + least(${MAX_WAIT_SECONDS}, (f.failures - $2::int + 1) * ${STEP_SECONDS}) * interval '1 second'`;

// Counted before the password is checked, so that concurrent guesses are not all free. Below the threshold
// failures expire after the window; above it only after an hour without any.
// Locked first: the attempt before is the one that another transaction has just committed, if there is one.
const TAKE = {
  name: "take_sign_in_attempt",
  text: `
with before as materialized (select last_at from sign_in_failure where key = $1 for update)
insert into sign_in_failure as f (key, failures) select $1, 1 from (values (1)) as one left join before on true
on conflict (key) do update set
  failures = case when ${IS_EXPIRED} then 1 else f.failures + 1 end,
  first_at = case when ${IS_EXPIRED} then clock_timestamp() else f.first_at end,
  last_at = clock_timestamp()
where ${IS_EXPIRED} or f.failures < $2::int or clock_timestamp() >= ${NEXT_ATTEMPT_AT}
returning key, last_at::text as "takenAt", (select last_at::text from before) as "previousAt"`,
};

const WAIT = {
  name: "sign_in_wait",
  text: `
select greatest(1, ceil(extract(epoch from ${NEXT_ATTEMPT_AT} - clock_timestamp())))::int as "waitSeconds"
from sign_in_failure f where f.key = $1 and f.failures >= $2::int`,
};

// The wait goes on from the attempt before, as only a failure may prolong it.
const RETURN = {
  name: "return_sign_in_attempt",
  text: `
update sign_in_failure f set failures = f.failures - 1,
  last_at = case when f.last_at = taken.at then coalesce(taken.previous_at, f.last_at) else f.last_at end
from unnest($1::text[], $2::timestamptz[], $3::timestamptz[]) as taken (key, at, previous_at)
where f.key = taken.key and f.failures > 0`,
};

const CLEAR = { name: "clear_sign_in_failures", text: "delete from sign_in_failure where key = $1" };

export type TakenAttempt = {
  key: string;
  takenAt: string;
  /** When the attempt before it was made; `null`: there was none. */
  previousAt: string | null;
};

/** Counts an attempt, or returns for how many seconds there must be none. */
export async function takeSignInAttempt(
  database: Queryable,
  key: string,
  { freeFailures }: GuessPolicy,
): Promise<{ waitSeconds: number } | TakenAttempt> {
  const [taken] = await database.run<TakenAttempt>(TAKE, [key, freeFailures]);
  if (taken) return taken;
  const [row] = await database.run<{ waitSeconds: number }>(WAIT, [key, freeFailures]);
  // Cleared since: a sign-in has just succeeded.
  return row ?? { waitSeconds: 1 };
}

/** Takes back attempts that turned out not to be failures. */
export async function returnSignInAttempts(
  database: Queryable,
  attempts: readonly TakenAttempt[],
): Promise<void> {
  await database.run(RETURN, [
    attempts.map(({ key }) => key),
    attempts.map(({ takenAt }) => takenAt),
    attempts.map(({ previousAt }) => previousAt),
  ]);
}

export async function clearSignInFailures(database: Queryable, key: string): Promise<void> {
  await database.run(CLEAR, [key]);
}
