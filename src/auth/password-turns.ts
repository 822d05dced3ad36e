import type { AuthRoute } from "./route-list.ts";

/**
 * A hash keeps one of Node's four threads busy for a tenth of a second. The fourth is left to names, files and
 * compression, which would wait behind every hash of a flood: pages, calls of providers and a new connection to the
 * database need them.
 */
const MAX_RUNNING = 3;

/** About ten seconds' work of two cores. */
const MAX_WAITING = 250;

export type PasswordTurns = {
  /** Runs the work once few enough are running; `null`: too many wait already. */
  run<Result>(work: () => Promise<Result>): Promise<Result> | null;
};

/** For a whole process. The requests of one client are limited elsewhere: these come from many. */
export function passwordTurns(): PasswordTurns {
  let running = 0;
  const waiting: (() => void)[] = [];
  const end = () => {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  };
  return {
    run: (work) => {
      if (running >= MAX_RUNNING) {
        if (waiting.length >= MAX_WAITING) return null;
        const turn = new Promise<void>((resolve) => waiting.push(resolve));
        return turn.then(work).finally(end);
      }
      running += 1;
      return work().finally(end);
    },
  };
}

const HASHING: ReadonlySet<AuthRoute["endpoint"]> = new Set<AuthRoute["endpoint"]>([
  ...(["signUpEmail", "signInEmail", "changePassword", "resetPassword"] as const),
  ...(["enableTwoFactor", "disableTwoFactor", "generateBackupCodes"] as const),
]);

/** Whether serving the route may hash a password. */
export function hashesPassword({ endpoint }: Pick<AuthRoute, "endpoint">): boolean {
  return HASHING.has(endpoint);
}
