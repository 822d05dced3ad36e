import type { Queryable } from "../store/database.ts";
import {
  clearSignInFailures,
  returnSignInAttempts,
  type TakenAttempt,
  takeSignInAttempt,
} from "../store/sign-in/sign-in-failures.ts";
import { networkOf } from "./network-of.ts";

/**
 * This many failures in 15 minutes cost nothing; then the wait between two guesses grows, from 10 seconds to
 * 5 minutes.
 */
const FREE_FAILURES = { account: 10, network: 100, session: 10, secondFactor: 10 };

/**
 * The outcome of an attempt: `right` and `wrong` are about the password or code, `unknown` of a request that
 * failed otherwise.
 */
export type GuessResult = "right" | "wrong" | "unknown";

export type GuessLimit = {
  /** Counts a guess before it is checked. `waitSeconds`: it must not be checked yet. */
  take(guess: Guess): Promise<{ waitSeconds: number } | { settle(result: GuessResult): Promise<void> }>;
};

export type Guess =
  /** A sign-in, whether there is such an account or not. */
  | { of: "account"; email: string; address: string }
  /**
   * A guess by somebody who is signed in: slowed down by their own sessions' failures only, never by others'
   * guesses.
   */
  | { of: "session"; userId: string }
  /**
   * A code, by somebody who knows the password. Better Auth counts wrong codes only afterwards: any number of
   * simultaneous ones would be checked.
   */
  | { of: "second factor"; userId: string };

export function createGuessLimit(database: Queryable, hash: (email: string) => string): GuessLimit {
  return {
    take: async (guess) => {
      const keys = keysOf(guess, hash);
      const taken: TakenAttempt[] = [];
      for (const { key, freeFailures } of keys) {
        const result = await takeSignInAttempt(database, key, { freeFailures });
        if ("waitSeconds" in result) {
          await returnSignInAttempts(database, taken);
          return result;
        }
        taken.push(result);
      }
      const [account] = taken;
      return {
        settle: async (result) => {
          if (result === "wrong" || account === undefined) return;
          if (result === "right") await clearSignInFailures(database, account.key);
          await returnSignInAttempts(database, taken);
        },
      };
    },
  };
}

function keysOf(guess: Guess, hash: (email: string) => string): { key: string; freeFailures: number }[] {
  if (guess.of === "session") {
    return [{ key: `session:${guess.userId}`, freeFailures: FREE_FAILURES.session }];
  }
  if (guess.of === "second factor") {
    return [{ key: `second-factor:${guess.userId}`, freeFailures: FREE_FAILURES.secondFactor }];
  }
  return [
    { key: accountKey(guess.email, hash), freeFailures: FREE_FAILURES.account },
    { key: `network:${networkOf(guess.address)}`, freeFailures: FREE_FAILURES.network },
  ];
}

/** What wrong passwords for an account are counted under. */
export function accountKey(email: string, hash: (email: string) => string): string {
  return `account:${hash(email)}`;
}
