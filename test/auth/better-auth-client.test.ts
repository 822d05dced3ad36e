import { createAuthClient } from "better-auth/client";
import { twoFactorClient } from "better-auth/client/plugins";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningServer } from "../../src/server.ts";
import { freshDatabase, type TestDatabase } from "../support/database.ts";
import { cookieOf } from "../support/people.ts";
import { startTestServer } from "../support/server.ts";
import { totp } from "../support/totp.ts";
import { GENEROUS_LIMITS } from "../support/variables.ts";

const PASSWORD = "a password of some length";

describe("Better Auth's own client", () => {
  let test: TestDatabase;
  let server: RunningServer;
  beforeAll(async () => {
    test = await freshDatabase(0);
    server = await startTestServer(test.url, GENEROUS_LIMITS);
  });
  afterAll(async () => {
    await server.close();
    await test.drop();
  });

  /** Keeps its cookies as a browser does. */
  function client() {
    let cookie = "";
    return createAuthClient({
      baseURL: server.url,
      plugins: [twoFactorClient()],
      fetchOptions: {
        onRequest: ({ headers }) => {
          headers.set("cookie", cookie);
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

  it("updates the user, and requests an email change", async () => {
    const ada = await signedUp("ada@example.com");
    expect((await ada.updateUser({ name: "Ada Lovelace" })).error).toBeNull();
    expect((await ada.getSession()).data?.user.name).toBe("Ada Lovelace");
    expect((await ada.updateUser({ name: "" })).error).toMatchObject({ status: 400, code: "BAD_REQUEST" });
    expect((await ada.changeEmail({ newEmail: "ada@lovelace.example" })).error).toBeNull();
  });

  it("lists sessions, and revokes one, the others or all", async () => {
    const [here, there] = [await signedUp("grace@example.com"), client()];
    await there.signIn.email({ email: "grace@example.com", password: PASSWORD });
    const { data: sessions } = await here.listSessions();
    expect(sessions).toHaveLength(2);
    const otherToken = (await there.getSession()).data?.session.token as string;
    expect((await here.revokeSession({ token: otherToken })).error).toBeNull();
    expect((await there.getSession()).data).toBeNull();
    await there.signIn.email({ email: "grace@example.com", password: PASSWORD });
    expect((await here.revokeOtherSessions()).error).toBeNull();
    expect((await there.getSession()).data).toBeNull();
    expect((await here.revokeSessions()).error).toBeNull();
    expect((await here.getSession()).data).toBeNull();
  });

  it("enables two-factor authentication, and signs in with it", async () => {
    const alan = await signedUp("alan@example.com");
    const { data } = await alan.twoFactor.enable({ password: PASSWORD });
    const uri = (data as { totpURI: string }).totpURI;
    expect((await alan.twoFactor.verifyTotp({ code: totp(uri) })).error).toBeNull();
    const two = client();
    const signIn = await two.signIn.email({ email: "alan@example.com", password: PASSWORD });
    expect(signIn.data).toMatchObject({ twoFactorRedirect: true });
    expect((await two.twoFactor.verifyTotp({ code: "000000" })).error).toMatchObject({
      code: "INVALID_CODE",
    });
    expect((await two.twoFactor.verifyTotp({ code: totp(uri) })).error).toBeNull();
    expect((await two.getSession()).data?.user.email).toBe("alan@example.com");
  });
});
