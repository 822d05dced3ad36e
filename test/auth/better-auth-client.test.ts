import { createAuthClient } from "better-auth/client";
import { twoFactorClient } from "better-auth/client/plugins";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningServer } from "../../src/server.ts";
import { eventually } from "../support/eventually.ts";
import { cookieOf } from "../support/people.ts";
import { startTestServer } from "../support/server.ts";
import { type SmtpServer, smtpServer } from "../support/smtp-server.ts";
import { testDatabase } from "../support/test-database.ts";
import { totp } from "../support/totp.ts";
import { GENEROUS_LIMITS } from "../support/variables.ts";

const PASSWORD = "a password of some length";

describe("Better Auth's own client", () => {
  const test = testDatabase(0);
  let smtp: SmtpServer;
  let server: RunningServer;
  /** One sign-in an hour. */
  let strict: RunningServer;
  beforeAll(async () => {
    smtp = await smtpServer();
    const variables = { ...GENEROUS_LIMITS, SMTP_URL: smtp.url };
    server = await startTestServer(test.url, variables);
    strict = await startTestServer(test.url, { ...variables, RATE_LIMIT_AUTH_SIGN_IN: "1/3600" });
  });
  afterAll(async () => {
    await strict?.close();
    await server?.close();
    await smtp?.close();
  });

  /** Keeps its cookies as a browser does. */
  function client({
    baseURL = server.url,
    origin = null,
  }: {
    baseURL?: string;
    origin?: string | null;
  } = {}) {
    let cookie = "";
    return createAuthClient({
      baseURL,
      plugins: [twoFactorClient()],
      fetchOptions: {
        onRequest: ({ headers }) => {
          headers.set("cookie", cookie);
          if (origin !== null) headers.set("origin", origin);
        },
        onResponse: ({ response }) => {
          cookie = cookieOf(response) || cookie;
        },
      },
    });
  }

  async function signedUp(email: string) {
    const signedOut = client();
    const { error } = await signedOut.signUp.email({ name: "Ada", email, password: PASSWORD });
    expect(error).toBeNull();
    return signedOut;
  }

  it("reads the message and code of an error", async () => {
    const { error } = await client().signIn.email({ email: "nobody@example.com", password: PASSWORD });
    expect(error).toMatchObject({
      status: 401,
      message: "Incorrect email or password",
      code: "INVALID_EMAIL_OR_PASSWORD",
    });
  });

  it("reads that it is over the limit, and for how long", async () => {
    const limited = client({ baseURL: strict.url });
    const credentials = { email: "nobody@example.com", password: PASSWORD };
    expect((await limited.signIn.email(credentials)).error?.status).toBe(401);
    let retryAfter: string | null = null;
    const { error } = await limited.signIn.email(credentials, {
      onError: ({ response }) => {
        retryAfter = response.headers.get("retry-after");
      },
    });
    expect(error).toMatchObject({
      status: 429,
      message: "Too many requests. Please wait a moment.",
      code: "TOO_MANY_REQUESTS",
    });
    expect(Number(retryAfter)).toBeGreaterThan(3000);
  });

  it("is refused from another origin", async () => {
    const { error } = await client({ origin: "https://evil.example.com" }).signUp.email({
      name: "Eve",
      email: "eve@example.com",
      password: PASSWORD,
    });
    expect(error).toMatchObject({ status: 403, message: "Forbidden", code: "FORBIDDEN" });
  });

  it("resets a forgotten password", async () => {
    const email = "barbara@example.com";
    const barbara = await signedUp(email);
    const { error } = await barbara.requestPasswordReset({ email, redirectTo: "/reset-password" });
    expect(error).toBeNull();
    let token: string | undefined;
    await eventually(async () => {
      token = smtp.mails
        .filter(({ to }) => to === `<${email}>`)
        .map(({ data }) => /reset-password\/([\w-]+)/.exec(data.replaceAll("=\r\n", ""))?.[1])
        .findLast((found) => found !== undefined);
      return token !== undefined;
    }, true);
    const newPassword = "another password of some length";
    const reset = { token: token as string, newPassword };
    expect((await barbara.resetPassword({ ...reset, newPassword: "short" })).error).toMatchObject({
      status: 400,
      message: expect.stringContaining("newPassword: "),
      code: "BAD_REQUEST",
    });
    expect((await barbara.resetPassword(reset)).error).toBeNull();
    expect((await barbara.resetPassword(reset)).error).toMatchObject({
      status: 400,
      message: "This link is invalid or has expired",
      code: "INVALID_TOKEN",
    });
    expect((await barbara.getSession()).data).toBeNull();
    expect((await barbara.signIn.email({ email, password: newPassword })).error).toBeNull();
  });

  it("updates the user, and requests an email change", async () => {
    const ada = await signedUp("ada@example.com");
    expect((await ada.updateUser({ name: "Ada Lovelace" })).error).toBeNull();
    expect((await ada.getSession()).data?.user.name).toBe("Ada Lovelace");
    expect((await ada.updateUser({ name: "" })).error).toMatchObject({ status: 400, code: "BAD_REQUEST" });
    expect((await ada.changeEmail({ newEmail: "ada@lovelace.example" })).error).toBeNull();
  });

  it("lists sessions, and revokes one, the others or all", async () => {
    const [thisDevice, otherDevice] = [await signedUp("grace@example.com"), client()];
    await otherDevice.signIn.email({ email: "grace@example.com", password: PASSWORD });
    const { data: sessions } = await thisDevice.listSessions();
    expect(sessions).toHaveLength(2);
    const otherToken = (await otherDevice.getSession()).data?.session.token as string;
    expect((await thisDevice.revokeSession({ token: otherToken })).error).toBeNull();
    expect((await otherDevice.getSession()).data).toBeNull();
    await otherDevice.signIn.email({ email: "grace@example.com", password: PASSWORD });
    expect((await thisDevice.revokeOtherSessions()).error).toBeNull();
    expect((await otherDevice.getSession()).data).toBeNull();
    expect((await thisDevice.revokeSessions()).error).toBeNull();
    expect((await thisDevice.getSession()).data).toBeNull();
  });

  it("enables two-factor authentication, and signs in with it", async () => {
    const alan = await signedUp("alan@example.com");
    const { data } = await alan.twoFactor.enable({ password: PASSWORD });
    const uri = (data as { totpURI: string }).totpURI;
    expect((await alan.twoFactor.verifyTotp({ code: totp(uri) })).error).toBeNull();
    const two = client();
    const credentials = { email: "alan@example.com", password: PASSWORD };
    expect((await two.signIn.email(credentials)).data).toMatchObject({ twoFactorRedirect: true });
    expect((await two.twoFactor.verifyTotp({ code: "000000" })).error).toMatchObject({
      code: "INVALID_CODE",
    });
    expect((await two.twoFactor.verifyTotp({ code: totp(uri) })).error).toBeNull();
    expect((await two.getSession()).data?.user.email).toBe("alan@example.com");
  });

  it("signs in with a recovery code, once, and replaces the codes", async () => {
    const credentials = { email: "edsger@example.com", password: PASSWORD };
    const edsger = await signedUp(credentials.email);
    const { data } = await edsger.twoFactor.enable({ password: PASSWORD });
    const { totpURI, backupCodes } = data as { totpURI: string; backupCodes: string[] };
    await edsger.twoFactor.verifyTotp({ code: totp(totpURI) });
    const signInWith = async (code: string | undefined) => {
      const otherClient = client();
      await otherClient.signIn.email(credentials);
      return otherClient.twoFactor.verifyBackupCode({ code: code as string });
    };
    expect((await signInWith(backupCodes[0])).data?.user.email).toBe(credentials.email);
    expect((await signInWith(backupCodes[0])).error).toMatchObject({
      status: 400,
      message: "code: is not the current code",
      code: "INVALID_BACKUP_CODE",
    });
    expect((await edsger.twoFactor.generateBackupCodes({ password: "wrong" })).error).toMatchObject({
      status: 400,
      message: "password: is not the current password",
      code: "INVALID_PASSWORD",
    });
    const renewed = await edsger.twoFactor.generateBackupCodes({ password: PASSWORD });
    expect((await signInWith(backupCodes[1])).error?.code).toBe("INVALID_BACKUP_CODE");
    expect((await signInWith(renewed.data?.backupCodes[0])).error).toBeNull();
    expect((await edsger.twoFactor.disable({ password: PASSWORD })).error).toBeNull();
  });
});
