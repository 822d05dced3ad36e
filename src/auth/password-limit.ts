import type { AuthRoute } from "./routes/route-list.ts";

/**
 * A hash keeps one of Node's four threads busy for a tenth of a second. The fourth is left to names, files and
 * compression, which would wait behind every hash of a flood: pages, calls of providers and a new connection to the
 * database need them.
 */
const MAX_RUNNING = 3;

/** Ten to thirty seconds' work of two cores. */
const MAX_WAITING = 250;

/** Proxies wait for a minute. Where the database does not answer, each that runs takes as long as its time-outs. */
const MAX_WAIT_MS = 30_000;

export type PasswordLimit = {
  /** Runs the work once few enough are running; `null`: too many were before it. */
  run<Result>(work: () => Promise<Result>): Promise<Result | null>;
};

/** For a whole process. The requests of one client are limited elsewhere: these come from many. */
export function passwordLimit(maxWaitMs = MAX_WAIT_MS): PasswordLimit {
  let running = 0;
  const waiting = new Set<(isAdmitted: boolean) => void>();

  const admission = () =>
    new Promise<boolean>((resolve) => {
      const end = (isAdmitted: boolean) => {
        clearTimeout(timer);
        waiting.delete(end);
        resolve(isAdmitted);
      };
      const timer = setTimeout(end, maxWaitMs, false);
      waiting.add(end);
    });
  const release = () => {
    const [next] = waiting;
    if (next) next(true);
    else running -= 1;
  };
  return {
    run: async (work) => {
      if (running < MAX_RUNNING) running += 1;
      else if (waiting.size >= MAX_WAITING || !(await admission())) return null;
      return work().finally(release);
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
