import { loadOnce } from "../domain/load-once.ts";
import { deleteExpired } from "../store/accounts/expired-accounts-data.ts";
import { notifyExpiringKeys } from "../store/keys/expiring-keys.ts";
import { markKeysUsed } from "../store/keys/mark-keys-used.ts";
import { takeMailTo } from "../store/notifications/mail-recipients.ts";
import { accountNotices } from "./account-notices.ts";
import type { AccountsOptions } from "./accounts.ts";
import type { Auth } from "./auth.ts";
import { authenticateApiKey } from "./callers/authenticate-api-key.ts";
import { createKeyAuthenticator } from "./callers/authenticate-key.ts";
import { authenticateServiceKey } from "./callers/authenticate-service-key.ts";
import { createIdentify } from "./callers/identify.ts";
import { keyUsage } from "./callers/key-usage.ts";
import { keyedHash } from "./keyed-hash.ts";
import { loadAccounts } from "./load-accounts.ts";
import { authenticateLink } from "./plugin-link.ts";
import { authRoute, documentedAuthRoutes } from "./routes/routes.ts";

export type AuthOptions = AccountsOptions & {
  /** At least 30. */
  auditRetentionDays: number;
  /**
   * Milliseconds since the epoch, by default the system clock. Better Auth itself always uses the system
   * clock.
   */
  now?: () => number;
};

const KEY_NOTICE_DAYS = 14;
const BATCH = 1_000;

/** Accounts, sessions and API keys: who is calling, and how people sign up and in. */
export function createAuth({ now = Date.now, auditRetentionDays, ...options }: AuthOptions): Auth {
  const { database, log, requireConfirmation } = options;
  const hash = keyedHash(options.secret);
  const usageOf = (kind: "api_key" | "service_key") =>
    keyUsage((ids, everySeconds) => markKeysUsed(database, { kind, ids, everySeconds }), log);
  const usage = usageOf("api_key");
  const serviceUsage = usageOf("service_key");

  const notices = accountNotices(options);

  // Better Auth takes 200 ms to load: the first request with a cookie waits for it instead of every start.
  const accounts = loadOnce(async () => (await loadAccounts()).createAccounts({ ...options, notices }, now));

  return {
    identify: createIdentify({
      authenticateSession: async (cookie, address) => (await accounts()).authenticateSession(cookie, address),
      authenticateKey: createKeyAuthenticator(
        authenticateApiKey(database, usage),
        authenticateServiceKey(database, serviceUsage),
      ),
      now,
    }),
    authenticateLink: authenticateLink(database),
    scopeOf: (method, path) => {
      const route = authRoute(method, path, { confirmation: requireConfirmation });
      return route && "scope" in route ? route.scope : null;
    },
    documentedRoutes: documentedAuthRoutes,
    handle: async (request, address) => (await accounts()).handle(request, address),
    call: async (request) => (await accounts()).call(request),
    notifyExpiringKeys: () => notifyExpiringKeys(database, { withinDays: KEY_NOTICE_DAYS, limit: BATCH }),
    deleteExpired: () => deleteExpired(database, { limit: BATCH, auditRetentionDays }),
    // Counted apart from mails about the account: neither may keep the other from its recipient.
    mayMailNotifications: (email) => takeMailTo(database, `notifications:${hash(email)}`),
    sendDueNotices: notices.sendDue,
    idle: async () => {
      await Promise.all([usage.idle(), serviceUsage.idle()]);
    },
  };
}
