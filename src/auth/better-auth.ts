import { betterAuth } from "better-auth";
import { drizzleAdapter } from "better-auth/adapters/drizzle";
import { APIError } from "better-auth/api";
import { drizzle } from "drizzle-orm/node-postgres";
import type { Letter } from "../mail/letter.ts";
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
  /** Asked at every request: a port may be known only later. */
  ownOrigins: () => readonly string[];
  /** Sends without being waited for. */
  mail: { send(letter: Letter): void };
  requireConfirmation: boolean;
  log: Log;
};

const HOUR_SECONDS = 60 * 60;

/** A sign-up holds its connection while the password is hashed; deliveries need connections too. */
const MAX_TRANSACTIONS = 3;

const LONGEST_USER_AGENT = 500;

/** Better Auth with e-mail and password and nothing else. Who may do what is not its business but the gate's. */
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
    // In this form no variable of Better Auth's own can put another in its place.
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
    // Expired ones are deleted by our own job: Better Auth does it at every look-up.
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
                userAgent: session.userAgent?.slice(0, LONGEST_USER_AGENT) ?? null,
              },
            };
          },
        },
      },
    },
    advanced: {
      useSecureCookies: new URL(options.appUrl).protocol === "https:",
      ipAddress: { disableIpTracking: true },
      // Said outright: under a test runner both are off by default.
      disableOriginCheck: false,
      disableCSRFCheck: false,
    },
    // Ours counts exactly, and for all processes.
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    onAPIError: { throw: true },
    logger: {
      level: "warn",
      disableColors: true,
      log: (level, message, ...more) => note(log, level, message, more),
    },
  });
}

export type ConfiguredBetterAuth = ReturnType<typeof configureBetterAuth>;

/** Its warnings are of everyday things, such as a wrong password. */
function note(log: Log, level: string, message: string, more: readonly unknown[]): void {
  const error = more.find((one) => one instanceof Error);
  const fields = error ? { err: innermost(error) } : {};
  // Without an error of its own it quotes what a stranger has sent.
  if (level === "error" && error) log.error(fields, `better-auth: ${message}`);
  else log.debug(fields, `better-auth: ${message}`);
}
