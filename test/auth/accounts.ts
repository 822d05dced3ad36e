import { randomBytes } from "node:crypto";
import { afterAll, beforeAll } from "vitest";
import type { Auth, IdentifiedCaller } from "../../src/auth/auth.ts";
import { configureBetterAuth } from "../../src/auth/better-auth.ts";
import { createAuth } from "../../src/auth/create-auth.ts";
import { requestScopes } from "../../src/auth/request-scope.ts";
import type { EmailMessage } from "../../src/mail/email-message.ts";
import type { TestDatabase } from "../support/database.ts";
import { cookieOf } from "../support/people.ts";
import { testDatabase } from "../support/test-database.ts";

export const SECRET = "only-for-tests-and-long-enough-to-be-taken";
export const APP_URL = "http://localhost:3000";
export const ADDRESS = "192.0.2.7";
export const PASSWORD = "correct horse battery";

export type LogLine = { level: string; fields: object; message: string };

export type Accounts = {
  test: TestDatabase;
  auth: Auth;
  mails: EmailMessage[];
  lines: LogLine[];
  /** A request below `/api/auth`, with a JSON body when one is given. */
  call(path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
  identify(headers: Record<string, string>, now?: number): Promise<IdentifiedCaller>;
  /** The id of the session that Better Auth's own look-up finds. */
  theirs(cookie: string): Promise<string | null>;
  /** Signs a new user up; returns the user and the cookie. */
  signedUp(more?: Record<string, unknown>): Promise<{ id: string; email: string; cookie: string }>;
};

export type AccountsOptions = {
  appUrl?: string;
  requireConfirmation?: boolean;
  requireAdminTwoFactor?: boolean;
  secret?: string;
};

/** Accounts on a database of their own, for the tests of one file. */
export function accounts(options: AccountsOptions = {}): Accounts {
  const mails: EmailMessage[] = [];
  const lines: LogLine[] = [];
  const created = { mails, lines, test: testDatabase(0) } as unknown as Accounts;
  beforeAll(async () => {
    Object.assign(created, onDatabase(created.test, mails, lines, options));
  });
  afterAll(() => created.auth.idle());
  return created;
}

/** The same on an existing database, such as for another application on it. */
export function onDatabase(
  test: TestDatabase,
  mails: EmailMessage[],
  lines: LogLine[],
  {
    appUrl = APP_URL,
    requireConfirmation = false,
    requireAdminTwoFactor = false,
    secret = SECRET,
  }: AccountsOptions = {},
): Omit<Accounts, "test" | "mails" | "lines"> {
  let time: number | null = null;
  const line = (level: string) => (fields: object, message: string) => {
    lines.push({ level, fields, message });
  };
  const configuration = {
    database: test.database,
    secret,
    appUrl,
    ownOrigins: () => [appUrl, "http://127.0.0.1:3000"],
    mail: { send: (message: EmailMessage) => void mails.push(message) },
    requireConfirmation,
    requireAdminTwoFactor,
    // A slow machine fails no test.
    maxPasswordWaitMs: 600_000,
    auditRetentionDays: 365,
    log: { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") },
  };
  const auth = createAuth({ ...configuration, now: () => time ?? Date.now() });
  const betterAuth = configureBetterAuth({ ...configuration, sendMail: async () => {} }, requestScopes());
  const call: Accounts["call"] = (path, body, headers = {}) =>
    auth.handle(
      new Request(new URL(`/api/auth${path}`, appUrl), {
        ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
        headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      }),
      ADDRESS,
    );
  return {
    auth,
    call,
    identify: async (headers, now) => {
      time = now ?? null;
      try {
        return await auth.identify({ header: (name) => headers[name], address: ADDRESS });
      } finally {
        time = null;
      }
    },
    theirs: async (cookie) => {
      const session = await betterAuth.api.getSession({ headers: new Headers({ cookie }) });
      return session?.session.id ?? null;
    },
    signedUp: async (more = {}) => {
      const email = `person-${randomBytes(6).toString("hex")}@example.com`;
      const response = await call("/sign-up/email", { name: "Person", email, password: PASSWORD, ...more });
      if (response.status !== 200) throw new Error(`sign-up: ${response.status} ${await response.text()}`);
      const { user } = (await response.json()) as { user: { id: string } };
      return { id: user.id, email, cookie: cookieOf(response) };
    },
  };
}
