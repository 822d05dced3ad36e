import { betterAuth } from "better-auth";
import { drizzleAdapter } from "better-auth/adapters/drizzle";
import { APIError } from "better-auth/api";
import { drizzle } from "drizzle-orm/node-postgres";
import type { EmailMessage } from "../mail/email-message.ts";
import type { Database } from "../store/database.ts";
import { sharedPool } from "../store/shared-pool.ts";
import { isBanned } from "../store/users.ts";
import { confirmationLetter, existingAccountLetter, resetLetter } from "./letters.ts";
import { innermost, type Log } from "./log.ts";
import type { RequestScopes } from "./request-scope.ts";
import { AUTH_PATH } from "./routes.ts";
import { REMEMBERED_SECONDS, UPDATE_AGE_SECONDS } from "./session-age.ts";
import { TABLES } from "./tables.ts";

export type BetterAuthOptions = {
  database: Database;
  /** At least 32 random characters. */
  secret: string;
  /** The public origin: `https` makes cookies secure. */
  appUrl: string;
  /** Evaluated per request: the port may be known only after listening. */
  ownOrigins: () => readonly string[];
  /** Queues a mail without waiting for it. */
  mail: { send(message: EmailMessage): void };
  requireConfirmation: boolean;
  log: Log;
};

const HOUR_SECONDS = 60 * 60;

/** A sign-up holds its connection while the password is hashed, and webhooks need connections too. */
const MAX_TRANSACTIONS = 3;

const MAX_USER_AGENT_LENGTH = 500;

/** Configures Better Auth with e-mail and password only. Authorization is the gate's. */
export function configureBetterAuth(options: BetterAuthOptions, scopes: RequestScopes) {
  const { database, mail, requireConfirmation, log } = options;
  const client = sharedPool(database, {
    maxTransactions: MAX_TRANSACTIONS,
    failed: (error) => {
      const scope = scopes.getStore();
      if (scope) scope.failure = error;
    },
  });

  return betterAuth({
    appName: "Tollgate",
    baseURL: new URL(options.appUrl).origin,
    basePath: AUTH_PATH,
    // In this form no environment variable of Better Auth can replace it.
    secrets: [{ version: 1, value: options.secret }],
    trustedOrigins: () => [...options.ownOrigins()],
    database: drizzleAdapter(drizzle({ client }), { provider: "pg", schema: TABLES, transaction: true }),
    emailAndPassword: {
      enabled: true,
      requireEmailVerification: requireConfirmation,
      resetPasswordTokenExpiresIn: HOUR_SECONDS,
      revokeSessionsOnPasswordReset: true,
      sendResetPassword: async ({ user, url }) => mail.send(resetLetter(user.email, url)),
      onExistingUserSignUp: async ({ user }) => mail.send(existingAccountLetter(user.email)),
    },
    ...(requireConfirmation
      ? {
          emailVerification: {
            sendOnSignUp: true,
            sendOnSignIn: true,
            expiresIn: HOUR_SECONDS,
            sendVerificationEmail: async ({ user, url }: { user: { email: string }; url: string }) =>
              mail.send(confirmationLetter(user.email, url)),
          },
        }
      : {}),
    session: {
      expiresIn: REMEMBERED_SECONDS,
      updateAge: UPDATE_AGE_SECONDS,
      cookieCache: { enabled: false },
    },
    // A copy of the database must not be enough to set somebody's password.
    // Expired ones are deleted by our own job; Better Auth would do so at every lookup.
    verification: { storeIdentifier: "hashed", disableCleanup: true },
    databaseHooks: {
      session: {
        create: {
          before: async (session, context) => {
            // Not yet committed, and new: nobody has banned them.
            if (context?.path !== "/sign-up/email" && (await isBanned(database, session.userId))) {
              throw new APIError("FORBIDDEN", { message: "This account is suspended", code: "BANNED" });
            }
            return {
              data: {
                ipAddress: scopes.getStore()?.address ?? null,
                userAgent: session.userAgent?.slice(0, MAX_USER_AGENT_LENGTH) ?? null,
              },
            };
          },
        },
      },
    },
    advanced: {
      useSecureCookies: new URL(options.appUrl).protocol === "https:",
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
      log: (level, message, ...more) => logMessage(log, level, message, more),
    },
  });
}

export type ConfiguredBetterAuth = ReturnType<typeof configureBetterAuth>;

/** Better Auth warns of everyday events, such as a wrong password. */
function logMessage(log: Log, level: string, message: string, more: readonly unknown[]): void {
  const error = more.find((one) => one instanceof Error);
  const fields = error ? { err: innermost(error) } : {};
  // A message without an error quotes what a client has sent.
  if (level === "error" && error) log.error(fields, `better-auth: ${message}`);
  else log.debug(fields, `better-auth: ${message}`);
}
