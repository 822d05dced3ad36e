import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningServer } from "../../../src/server.ts";
import { builtPages } from "../../support/built-pages.ts";
import { sendRequest } from "../../support/http.ts";
import { cookieOf, createKey, createSession, createUser } from "../../support/people.ts";
import { startTestServer } from "../../support/server.ts";
import { callAction, encodeArguments, type Fields, findServerAction } from "../../support/server-action.ts";
import { testDatabase } from "../../support/test-database.ts";
import { totp } from "../../support/totp.ts";
import { APP_URL, openPage, sendForm } from "./open-page.ts";

const PATH = "/settings/security";

const test = testDatabase(0);
let server: RunningServer;
beforeAll(async () => {
  await builtPages();
  const variables = { APP_URL, REQUIRE_ADMIN_2FA: "on", RATE_LIMIT_AUTH_PASSWORD: "100/60" };
  server = await startTestServer(test.url, variables);
  // The first page of a process takes long on a busy machine.
  await fetch(`${server.url}/sign-in`);
}, 180_000);
afterAll(() => server.close());

const newUser = (role: "user" | "admin" = "user") =>
  createUser(test, "Somebody New", { isHttps: true, role });

const backupCodesIn = (html: string) =>
  [...html.matchAll(/<li class="select-all">([^<]+)</g)].map(([, code]) => code as string);

describe("the active sessions", () => {
  it("begin with this one, which cannot be ended in the list", async () => {
    const { id, cookie } = await newUser();
    expect((await openPage(server.url, PATH, cookie)).text).not.toContain("Sign out all others");
    await test.rows("update session set ip_address = '192.0.2.1' where user_id = $1", [id]);
    await createSession(test, id, { isHttps: true });
    await test.rows("update session set ip_address = '192.0.2.2' where user_id = $1 and ip_address is null", [
      id,
    ]);
    const { html, text } = await openPage(server.url, PATH, cookie);
    expect(text).toMatch(
      /Sign out all others .*Unknown device \(this session\) 192\.0\.2\.1 .* Unknown device 192\.0\.2\.2 .* Sign out /,
    );
    expect(html.match(/aria-label="Sign out: /g)).toHaveLength(1);
  });

  it("are said to be fewer once one is ended", async () => {
    const { cookie } = await newUser();
    const { text } = await openPage(server.url, `${PATH}?done=session-revoked`, cookie);
    expect(text).toContain("Only the sessions below are still active.");
  });
});

describe("an administrator who must use two-factor authentication", () => {
  it("is led from administration to where it is turned on, and reads why", async () => {
    const { cookie } = await newUser("admin");
    const { status, headers } = await sendRequest(server.url, "GET", "/admin/users", { cookie });
    expect([status, headers.get("location")]).toEqual([307, PATH]);
    expect((await openPage(server.url, PATH, cookie)).text).toContain(
      "Administrators must turn on two-factor authentication",
    );
  });
});

describe("backup codes", () => {
  it("are created anew, and one of them signs in on a device that is trusted from then on", async () => {
    const { email, cookie, password } = await newUser();
    const setUp = await sendForm(server.url, PATH, cookie, {
      on: "Set up two-factor authentication",
      fields: { password },
    });
    const [, secret = ""] = />([A-Z2-7]{16,}=*)</.exec(setUp.html) ?? [];
    const code = totp(`otpauth://totp/x?secret=${secret}`);
    const action = findServerAction("confirmTwoFactor");
    const confirmed = await callAction(server.url, action, encodeArguments([{ code }]), { cookie });
    const created = await sendForm(server.url, PATH, cookieOf(confirmed), {
      on: "Create codes",
      fields: { password },
    });
    const codes = backupCodesIn(created.html);
    expect(codes).toHaveLength(10);
    expect(codes).not.toEqual(backupCodesIn(setUp.html));

    const first = await sendForm(server.url, "/sign-in?next=/billing", "", {
      on: "rememberMe",
      fields: { email, password },
    });
    expect(first.location).toBe("/sign-in/two-factor?next=%2Fbilling");
    const { html } = await openPage(server.url, "/sign-in/two-factor?next=%2Fbilling", cookieOf(first));
    const [, other = ""] = /href="([^"]*)"[^>]*>Use a backup code</.exec(html) ?? [];
    const second = await sendForm(server.url, other.replaceAll("&amp;", "&"), cookieOf(first), {
      on: "Backup code",
      fields: { code: codes[0] as string, trustDevice: "on" },
    });
    expect(second.location).toBe("/billing");
    expect(cookieOf(second)).toMatch(/session_token=.*trust_device=|trust_device=.*session_token=/);
  });
});

describe("two-factor authentication that was switched in another tab", () => {
  const act = (name: string, fields: Fields, cookie: string) =>
    callAction(server.url, findServerAction(name), encodeArguments([fields]), { cookie });

  it("is shown as it is when it is switched on again, or codes are created for it", async () => {
    const { cookie, password } = await newUser();
    const setUp = await sendForm(server.url, PATH, cookie, {
      on: "Set up two-factor authentication",
      fields: { password },
    });
    const [, secret = ""] = />([A-Z2-7]{16,}=*)</.exec(setUp.html) ?? [];
    const code = totp(`otpauth://totp/x?secret=${secret}`);
    const on = cookieOf(await act("confirmTwoFactor", { code }, cookie));
    const again = await act("enableTwoFactor", { password }, on);
    expect([again.status, again.redirect]).toEqual([200, `${PATH}?done=two-factor-on`]);
    expect((await act("enableTwoFactor", { password: "a wrong one" }, on)).redirect).toBeNull();

    const off = cookieOf(await act("disableTwoFactor", { password }, on));
    const codes = await act("createBackupCodes", { password }, off);
    expect([codes.status, codes.redirect]).toEqual([200, `${PATH}?done=two-factor-off`]);
  });
});

describe("the sign-in page", () => {
  it("keeps people signed in unless they untick its box", async () => {
    const { html } = await openPage(server.url, "/sign-in", "");
    expect(html).toMatch(/<input(?=[^>]* name="rememberMe")[^>]* checked/);
  });

  it.each([
    ["/sign-in?next=%2Fsettings", "/sign-up?next=%2Fsettings"],
    ["/sign-up/sent?next=%2Fsettings", "/sign-in?next=%2Fsettings"],
    ["/verify-email?done=&next=%2Fsettings", "/sign-in?next=%2Fsettings"],
  ])("is reached and left with the page that was asked for: %s", async (path, next) => {
    expect((await openPage(server.url, path, "")).html).toContain(`href="${next}"`);
  });
});

describe("a new password", () => {
  it("is set in the settings, and revokes the API keys if that is ticked", async () => {
    const { cookie, email, password } = await newUser();
    const { key } = await createKey(server.url, { cookie });
    const newPassword = "another long password";
    const changed = await sendForm(server.url, "/settings", cookie, {
      on: "Change password",
      fields: { currentPassword: password, newPassword, revokeApiKeys: "on" },
    });
    expect(changed.text).toContain("Password changed.");
    expect((await sendRequest(server.url, "GET", "/api/users/me", { key })).status).toBe(401);
    const signedIn = await sendForm(server.url, "/sign-in", "", {
      on: "rememberMe",
      fields: { email, password: newPassword },
    });
    expect(signedIn.location).toBe("/onboarding");
  });
});

it("asks phones to neither capitalize nor correct what is compared letter by letter", async () => {
  const { cookie } = await newUser();
  await createKey(server.url, { cookie });
  for (const [path, name] of [
    ["/sign-in/two-factor?backup", "code"],
    ["/api-keys", "confirmation"],
    ["/settings", "confirmation"],
  ] as const) {
    const { html } = await openPage(server.url, path, path.startsWith("/sign-in") ? "" : cookie);
    const field = html.match(new RegExp(`<input\\b[^>]* name="${name}"[^>]*>`))?.[0];
    expect.soft(field, path).toMatch(/ autoCapitalize="none"/i);
    expect.soft(field, path).toMatch(/ autoCorrect="off"/i);
    expect.soft(field, path).toMatch(/ spellcheck="false"/i);
  }
});
