import { betterAuth, type GenericEndpointContext } from "better-auth";
import { drizzleAdapter } from "better-auth/adapters/drizzle";
import { APIError } from "better-auth/api";
import { twoFactor } from "better-auth/plugins/two-factor";
import { drizzle } from "drizzle-orm/node-postgres";
import type { Locale } from "../domain/locale.ts";
import { shortUserAgent } from "../http/user-agent.ts";
import common from "../messages/en/common.json" with { type: "json" };
import { type Database, violatedConstraint } from "../store/database.ts";
import { sharedPool } from "../store/shared-pool.ts";
import { revokeAfterNewPassword, revokeLinksUnlessCurrent } from "../store/sign-in/revocations.ts";
import { hasSession } from "../store/sign-in/sessions.ts";
import { clearSignInFailures } from "../store/sign-in/sign-in-failures.ts";
import { consumeTotpCode } from "../store/sign-in/used-totp-codes.ts";
import { isBanned } from "../store/users/bans.ts";
import type { AccountMail } from "./account-mail.ts";
import { REMEMBERED_SECONDS, UPDATE_AGE_SECONDS } from "./callers/session-age.ts";
import { createBackupCodes } from "./create-backup-codes.ts";
import { accountKey } from "./guess-limit.ts";
import { keyedCodeHash, keyedHash } from "./keyed-hash.ts";
import type { SendMail } from "./limited-mail.ts";
import { innermost, type Log } from "./log.ts";
import { confirmationLink, resetLink } from "./mail-links.ts";
import { passwordHooks } from "./password-hooks.ts";
import type { RequestScope, RequestScopes } from "./request-scope.ts";
import { AUTH_PATH } from "./routes/auth-path.ts";
import { MAX_PASSWORD_LENGTH } from "./routes/request-bodies.ts";
import { changeSecondFactor, withCheckedSetUp } from "./second-factor.ts";
import { sessionEnded } from "./session-ended.ts";
import { TABLES } from "./tables.ts";

export type BetterAuthOptions = {
  database: Database;
  /** At least 32 random characters. */
  secret: string;
  /** The public origin: `https` makes cookies secure. */
  appUrl: string;
  /** Evaluated per request: the port may be known only after listening. */
  ownOrigins: () => readonly string[];
  sendMail: SendMail;
  requireConfirmation: boolean;
  log: Log;
};

/** Better Auth passes all columns that it may read, and types its own. */
type Recipient = { email: string; locale?: Locale };

const HOUR_SECONDS = 60 * 60;

/** A sign-up holds its connection while the password is hashed, and webhooks need connections too. */
const MAX_TRANSACTIONS = 3;

/** Configures Better Auth with email and password only. Authorization is the gate's. */
export function configureBetterAuth(options: BetterAuthOptions, scopes: RequestScopes) {
  const { database, sendMail, requireConfirmation, log } = options;
  const client = sharedPool(database, {
    maxTransactions: MAX_TRANSACTIONS,
    failed: (error) => {
      const scope = scopes.getStore();
      if (scope) scope.failure = error;
    },
    opened: (transaction) => {
      const scope = scopes.getStore();
      if (scope) scope.transaction = transaction;
    },
  });

  const send = (user: Recipient, mail: AccountMail) =>
    sendMail(user.email, user.locale ?? scopes.getStore()?.locale ?? "en", mail);

  const hooks = passwordHooks(scopes);
  const isHttps = options.appUrl.startsWith("https://");

  return betterAuth({
    // Authenticator apps show it beside the code.
    appName: common.product,
    baseURL: options.appUrl,
    basePath: AUTH_PATH,
    // In this form no environment variable of Better Auth can replace it.
    secrets: [{ version: 1, value: options.secret }],
    trustedOrigins: () => [...options.ownOrigins()],
    database: withCheckedSetUp(
      drizzleAdapter(drizzle({ client }), { provider: "pg", schema: TABLES, transaction: true }),
      scopes,
    ),
    emailAndPassword: {
      enabled: true,
      // Bodies are checked before. It counts UTF-16 units, of which a character has up to two.
      maxPasswordLength: 2 * MAX_PASSWORD_LENGTH,
      requireEmailVerification: requireConfirmation,
      resetPasswordTokenExpiresIn: HOUR_SECONDS,
      revokeSessionsOnPasswordReset: true,
      sendResetPassword: async ({ user, url }) => {
        if (await revokeLinksUnlessCurrent(database, { userId: user.id, email: user.email }))
          await send(user, { kind: "password_reset", url: resetLink(url) });
      },
      onPasswordReset: async ({ user }) => {
        await revokeAfterNewPassword(database, { userId: user.id, keepToken: null, revokesKeys: true });
        // Somebody else's guesses must not keep out whoever has just proved to own the address.
        await clearSignInFailures(database, accountKey(user.email, keyedHash(options.secret)));
      },
      onExistingUserSignUp: ({ user }) => send(user, { kind: "existing_account" }),
    },
    ...(requireConfirmation
      ? {
          emailVerification: {
            sendOnSignUp: true,
            sendOnSignIn: true,
            expiresIn: HOUR_SECONDS,
            sendVerificationEmail: ({ user, url }: { user: Recipient; url: string }) =>
              send(user, { kind: "email_confirmation", url: confirmationLink(url) }),
          },
        }
      : {}),
    user: {
      additionalFields: { locale: { type: "string", required: false, input: false, returned: false } },
    },
    plugins: [
      twoFactor({
        totpOptions: { digits: 6, period: 30 },
        backupCodeOptions: { customBackupCodesGenerate: createBackupCodes },
      }),
    ],
    session: {
      // Listing sessions needs no fresh session.
      freshAge: 0,
      expiresIn: REMEMBERED_SECONDS,
      updateAge: UPDATE_AGE_SECONDS,
      cookieCache: { enabled: false },
    },
    // A copy of the database must not be enough to set somebody's password.
    // Expired ones are deleted by our own job; Better Auth would do so at every lookup.
    verification: { storeIdentifier: "hashed", disableCleanup: true },
    databaseHooks: {
      verification: hooks.verification,
      account: hooks.account,
      user: {
        create: {
          before: async (user) => ({ data: { ...user, locale: scopes.getStore()?.locale ?? "en" } }),
        },
        update: {
          before: async (changes, context) => {
            const { twoFactorEnabled: enabled } = changes as { twoFactorEnabled?: unknown };
            const session = context?.context.session?.session;
            if (typeof enabled !== "boolean" || !session) return;
            await changeSecondFactor(database, scopes.getStore(), { enabled, session });
            // That is done: written again, it could undo what somebody else has done since.
            return { data: { twoFactorEnabled: undefined } };
          },
          after: async (user: object | null) => {
            // Deleted meanwhile.
            if (user === null) throw sessionEnded();
          },
        },
      },
      session: {
        delete: hooks.session.delete,
        create: {
          before: async (session, context) => {
            const scope = scopes.getStore();
            await assertNotEnded(database, scope);
            // Not yet committed, and new: nobody has banned them.
            if (context?.path !== "/sign-up/email" && (await isBanned(database, session.userId))) {
              throw new APIError("FORBIDDEN", { message: "This account is suspended", code: "BANNED" });
            }
            await consumeCode(options, session.userId, context);
            if (scope) scope.newSessionToken = session.token;
            return {
              data: {
                ipAddress: scope?.address ?? null,
                userAgent: shortUserAgent(session.userAgent) ?? null,
              },
            };
          },
        },
      },
    },
    advanced: {
      // `__Host-` instead of Better Auth's `__Secure-`: no sibling subdomain can set or shadow such a cookie.
      useSecureCookies: false,
      ...(isHttps ? { cookiePrefix: "__Host-better-auth", defaultCookieAttributes: { secure: true } } : {}),
      ipAddress: { disableIpTracking: true },
      // Set explicitly: both are off by default under a test runner.
      disableOriginCheck: false,
      disableCSRFCheck: false,
    },
    // Our own limiter counts exactly, across processes.
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    onAPIError: { throw: true },
    logger: {
      level: "warn",
      disableColors: true,
      log: (level, message, ...details) => logMessage(log, level, message, details),
    },
  });
}

/**
 * A new password or setting replaces the session that it was sent with. One that has ended meanwhile is not
 * replaced: the transaction of a change of the password then changes nothing.
 */
async function assertNotEnded(database: Database, scope: RequestScope | undefined): Promise<void> {
  if (!scope?.sessionId || (await hasSession(database, scope.sessionId))) return;
  throw sessionEnded();
}

/**
 * Whoever has read a code over a shoulder must not sign in with it. The code that finishes the set-up does
 * not count: there is a session already.
 */
async function consumeCode(
  { database, secret }: BetterAuthOptions,
  userId: string,
  context: GenericEndpointContext | null,
): Promise<void> {
  if (context?.path !== "/two-factor/verify-totp" || context.context.session) return;
  const code = keyedCodeHash(secret, String(context.body?.code));
  if (await consumeTotpCode(database, userId, code)) return;
  // The pending sign-in is consumed by now: the user has to start over.
  throw new APIError("UNAUTHORIZED", {
    message: "This code has been used",
    code: "INVALID_TWO_FACTOR_COOKIE",
  });
}

export type ConfiguredBetterAuth = ReturnType<typeof configureBetterAuth>;

/** Better Auth warns of everyday events, such as a wrong password. */
function logMessage(log: Log, level: string, message: string, details: readonly unknown[]): void {
  const error = details.find((detail) => detail instanceof Error);
  const cause = innermost(error);
  const fields = error ? { err: cause } : {};
  // Of two sign-ups at once with one address, one is refused, as it should be.
  const isAddressTaken = violatedConstraint(cause) === "user_email_key";
  // A message without an error quotes what a client has sent.
  if (level === "error" && error && !isAddressTaken) log.error(fields, `better-auth: ${message}`);
  else log.debug(fields, `better-auth: ${message}`);
}
