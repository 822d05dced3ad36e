import { forgetExpired } from "../store/sessions.ts";
import type { Auth } from "./auth.ts";
import type { BetterAuthOptions } from "./better-auth.ts";
import { identifyWith } from "./identify.ts";
import { keyHolder } from "./key-holder.ts";
import { keyUsage } from "./key-usage.ts";
import { loadAccounts } from "./load-accounts.ts";
import { authRoute } from "./routes.ts";

export type AuthOptions = BetterAuthOptions & {
  /** Milliseconds since the epoch; the clock unless given. Better Auth itself always goes by the clock. */
  now?: () => number;
};

/** Look-ups of a kind under way at once: one could be held up by a connection that has just died. */
const MAX_IN_FLIGHT = 2;
const FORGOTTEN_AT_ONCE = 1_000;

/** Who is calling, and how one becomes somebody: accounts, sessions and API keys. */
export function createAuth({ now = Date.now, ...options }: AuthOptions): Auth {
  const { database, log, requireConfirmation } = options;
  const usage = keyUsage(database, log);

  // Better Auth takes a fifth of a second to load: the first request with a cookie waits for it, not every start.
  let loading: ReturnType<typeof load> | null = null;
  const accounts = () => {
    loading ??= load();
    return loading;
  };
  const load = async () => (await loadAccounts()).openAccounts(options, now);

  return {
    identify: identifyWith({
      bySession: async (cookie, address) => (await accounts()).bySession(cookie, address),
      keyHolder: keyHolder(database, usage, MAX_IN_FLIGHT),
      now,
    }),
    scopeOf: (method, path) => {
      const route = authRoute(method, path, { confirmation: requireConfirmation });
      return route && "scope" in route ? route.scope : null;
    },
    handle: async (request, address) => (await accounts()).handle(request, address),
    forgetExpired: () => forgetExpired(database, FORGOTTEN_AT_ONCE),
    idle: () => usage.idle(),
  };
}
