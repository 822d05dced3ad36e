import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { deleteExpired } from "../../src/store/accounts/expired-accounts-data.ts";
import { cookieOf } from "../support/people.ts";
import { totp } from "../support/totp.ts";
import { ADDRESS, accounts, type LogLine, onDatabase, PASSWORD } from "./accounts.ts";

describe("two-factor authentication", () => {
  const context = accounts();

  async function enabled() {
    const person = await context.signedUp();
    return { ...person, ...(await enable(person.cookie)) };
  }

  async function enable(cookie: string) {
    const setUp = await context.call("/two-factor/enable", { password: PASSWORD }, { cookie });
    expect(setUp.status).toBe(200);
    const { totpURI, backupCodes } = (await setUp.json()) as { totpURI: string; backupCodes: string[] };
    const verified = await context.call("/two-factor/verify-totp", { code: totp(totpURI) }, { cookie });
    expect(verified.status).toBe(200);
    return { cookie: cookieOf(verified), totpURI, backupCodes };
  }

  const signIn = (email: string, headers = {}) =>
    context.call("/sign-in/email", { email, password: PASSWORD }, headers);

  it("requires a code after the password", async () => {
    const { email, id, totpURI } = await enabled();
    const first = await signIn(email);
    expect(await first.json()).toMatchObject({ twoFactorRedirect: true });
    const pending = cookieOf(first);
    expect((await context.identify({ cookie: pending })).caller.kind).toBe("anonymous");
    const second = await context.call(
      "/two-factor/verify-totp",
      { code: totp(totpURI) },
      { cookie: pending },
    );
    expect(second.status).toBe(200);
    expect((await context.identify({ cookie: cookieOf(second) })).caller).toMatchObject({ userId: id });
  });

  it("accepts a code as apps show it, in two groups", async () => {
    const { email, totpURI } = await enabled();
    const code = ` ${totp(totpURI).replace(/^.../, "$& ")}\u00a0`;
    const verified = await context.call(
      "/two-factor/verify-totp",
      { code },
      { cookie: cookieOf(await signIn(email)) },
    );
    expect(verified.status).toBe(200);
  });

  it("accepts a code for one sign-in, also among simultaneous ones, and the next code afterwards", async () => {
    const { email, totpURI } = await enabled();
    const at = Date.now();
    const verify = async (code: string) =>
      context.call("/two-factor/verify-totp", { code }, { cookie: cookieOf(await signIn(email)) });
    const code = totp(totpURI, at);
    const responses = await Promise.all([verify(code), verify(code), verify(code)]);
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
    const repeated = await verify(code);
    expect([repeated.status, await repeated.json()]).toMatchObject([
      401,
      { code: "INVALID_TWO_FACTOR_COOKIE" },
    ]);
    expect((await verify(totp(totpURI, at + 30_000))).status).toBe(200);
  });

  it("stores used codes as keyed hashes, and forgets them once they cannot be valid again", async () => {
    const { email, id, totpURI } = await enabled();
    const code = totp(totpURI);
    const pending = cookieOf(await signIn(email));
    await context.call("/two-factor/verify-totp", { code }, { cookie: pending });
    const used = () => context.test.rows("select code from used_totp_code where user_id = $1", [id]);
    expect(await used()).toEqual([{ code: expect.stringMatching(/^[\w-]{43}$/) }]);
    await context.test.rows("update used_totp_code set used_at = now() - interval '2 hours'");
    await deleteExpired(context.test.database, { limit: 100, auditRetentionDays: 30 });
    expect(await used()).toEqual([]);
  });

  it("accepts a backup code once", async () => {
    const { email, backupCodes } = await enabled();
    const code = backupCodes[0];
    const verify = async () =>
      context.call("/two-factor/verify-backup-code", { code }, { cookie: cookieOf(await signIn(email)) });
    expect((await verify()).status).toBe(200);
    const repeated = await verify();
    expect(repeated.status).toBe(400);
    expect(await repeated.json()).toMatchObject({ code: "INVALID_BACKUP_CODE" });
  });

  it("shows backup codes without characters that look alike", async () => {
    const { cookie, backupCodes } = await enabled();
    const again = await context.call("/two-factor/generate-backup-codes", { password: PASSWORD }, { cookie });
    const codes = [...backupCodes, ...((await again.json()) as { backupCodes: string[] }).backupCodes];
    expect(new Set(codes).size).toBe(20);
    for (const code of codes) expect(code).toMatch(/^[a-hjkmnp-z2-9]{5}-[a-hjkmnp-z2-9]{5}$/);
  });

  it("accepts backup codes as people write them down", async () => {
    const { email, backupCodes } = await enabled();
    const written = ["", " ", " - ", "\u2013", "\u2011\n"].map((between, index) =>
      ` ${backupCodes[index]}\u00a0`.replace("-", between),
    );
    for (const code of written) {
      const cookie = cookieOf(await signIn(email));
      expect((await context.call("/two-factor/verify-backup-code", { code }, { cookie })).status).toBe(200);
    }
  });

  it("rejects a wrong code, and ends the sign-in after five", async () => {
    const { email, totpURI } = await enabled();
    const cookie = cookieOf(await signIn(email));
    const wrong = totp(totpURI, 0) === "000000" ? "111111" : "000000";
    for (let tries = 0; tries < 5; tries += 1) {
      expect((await context.call("/two-factor/verify-totp", { code: wrong }, { cookie })).status).toBe(400);
    }
    expect((await context.call("/two-factor/verify-totp", { code: totp(totpURI) }, { cookie })).status).toBe(
      401,
    );
  });

  it.each([
    ["/two-factor/verify-totp", (code: string) => code, "INVALID_CODE"],
    ["/two-factor/verify-backup-code", () => "wrong-wrong", "INVALID_BACKUP_CODE"],
  ])(
    "checks no more than ten wrong codes of simultaneous sign-ins at %s",
    async (path, codeOf, wrongCode) => {
      const { email, totpURI } = await enabled();
      const pending: string[] = [];
      for (let started = 0; started < 13; started += 1) pending.push(cookieOf(await signIn(email)));
      const code = codeOf(totp(totpURI, 0) === "000000" ? "111111" : "000000");
      const responses = await Promise.all(pending.map((cookie) => context.call(path, { code }, { cookie })));
      const bodies = (await Promise.all(responses.map((response) => response.json()))) as { code: string }[];
      expect(bodies.filter((body) => body.code === wrongCode)).toHaveLength(10);
      expect(bodies.filter((body) => body.code === "TOO_MANY_REQUESTS")).toHaveLength(3);
    },
  );

  it("says with Retry-After how long the second step is locked", async () => {
    const { email, id, totpURI } = await enabled();
    const cookie = cookieOf(await signIn(email));
    await context.test.rows(
      "update two_factor set locked_until = now() + interval '15 minutes' where user_id = $1",
      [id],
    );
    const locked = await context.call("/two-factor/verify-totp", { code: totp(totpURI) }, { cookie });
    expect([locked.status, locked.headers.get("retry-after")]).toEqual([429, "900"]);
    expect(await locked.json()).toMatchObject({ code: "ACCOUNT_TEMPORARILY_LOCKED" });
  });

  it("stores secrets and backup codes encrypted", async () => {
    const { id, totpURI, backupCodes } = await enabled();
    const [row] = await context.test.rows<{ secret: string; backup_codes: string }>(
      "select secret, backup_codes from two_factor where user_id = $1",
      [id],
    );
    expect(row?.secret).not.toContain(new URL(totpURI).searchParams.get("secret"));
    expect(row?.backup_codes).not.toContain(backupCodes[0]);
  });

  it("fails with another AUTH_SECRET, until it is turned off as the guide says", async () => {
    const { email, totpURI, backupCodes } = await enabled();
    const lines: LogLine[] = [];
    const secret = "another-secret-that-is-long-enough-to-be-taken";
    const changed = onDatabase(context.test, [], lines, { secret });
    const password = { email, password: PASSWORD };
    const cookie = cookieOf(await changed.call("/sign-in/email", password));
    for (const [path, code] of [
      ["verify-totp", totp(totpURI)],
      ["verify-backup-code", backupCodes[0]],
    ])
      expect((await changed.call(`/two-factor/${path}`, { code }, { cookie })).status).toBe(500);
    const guide = await readFile("docs/how-to/when-something-is-wrong.md", "utf8");
    const [, message = "", reason = "", statement = ""] =
      /The log says "([^"]+)" with `([^`]+)`[^`]*`(with lost as [^`]+)`/.exec(guide) ?? [];
    const failure = { message, fields: { err: { message: reason } } };
    expect(lines).toMatchObject([failure, failure]);
    await context.test.rows(statement);
    expect((await changed.call("/sign-in/email", password)).status).toBe(200);
    expect(await context.test.rows("select from two_factor")).toEqual([]);
  });

  it("ends sessions that were started without it when it is enabled", async () => {
    const person = await context.signedUp();
    const otherSession = cookieOf(await signIn(person.email));
    const setUp = await context.call("/two-factor/enable", { password: PASSWORD }, { cookie: person.cookie });
    const { totpURI } = (await setUp.json()) as { totpURI: string };
    expect((await context.identify({ cookie: otherSession })).caller.kind).toBe("session");
    await context.call("/two-factor/verify-totp", { code: totp(totpURI) }, { cookie: person.cookie });
    expect((await context.identify({ cookie: otherSession })).caller.kind).toBe("anonymous");
  });

  it("ends neither sessions nor links of other people when it is enabled", async () => {
    const other = await context.signedUp();
    await context.call("/request-password-reset", { email: other.email });
    const token = /reset-password\/([\w-]+)/.exec(context.mails.at(-1)?.text ?? "")?.[1];
    await enabled();
    expect((await context.identify({ cookie: other.cookie })).caller.kind).toBe("session");
    const reset = await context.call("/reset-password", { token, newPassword: "another good password" });
    expect(reset.status).toBe(200);
  });

  it("can be turned off with the password; sign-in then needs no code", async () => {
    const { email, cookie } = await enabled();
    const wrong = await context.call("/two-factor/disable", { password: "not this one" }, { cookie });
    expect(wrong.status).toBe(400);
    expect((await context.call("/two-factor/disable", { password: PASSWORD }, { cookie })).status).toBe(200);
    expect(await (await signIn(email)).json()).toMatchObject({ user: { email } });
  });

  it("is recorded and mailed when it is turned on or off, whatever notifications are wanted", async () => {
    const { id, email, cookie: before } = await context.signedUp();
    await context.test.rows(`update "user" set preferences = '{"emailNotifications": false}' where id = $1`, [
      id,
    ]);
    const mailed = () => context.mails.filter(({ to }) => to === email).map(({ subject }) => subject);
    const recorded = () =>
      context.test.rows(
        "select actor_kind, actor_id, address, action from audit_entry where target_id = $1 order by id",
        [id],
      );
    const changed = (action: string) => ({ actor_kind: "session", actor_id: id, address: ADDRESS, action });
    const { cookie } = await enable(before);
    expect(mailed()).toEqual(["Two-factor authentication is on"]);
    expect(await recorded()).toEqual([changed("user.two_factor_enabled")]);
    const disable = (password: string) => context.call("/two-factor/disable", { password }, { cookie });
    expect((await disable("not this one")).status).toBe(400);
    const disabled = await disable(PASSWORD);
    // Off already: nothing has changed.
    const again = { cookie: cookieOf(disabled) };
    expect((await context.call("/two-factor/disable", { password: PASSWORD }, again)).status).toBe(200);
    expect(mailed()).toEqual(["Two-factor authentication is on", "Two-factor authentication is off"]);
    const [, ...later] = await recorded();
    expect(later).toEqual([changed("user.two_factor_disabled")]);
  });

  it("keeps the notice of each change in the database while its mail cannot be sent", async () => {
    const { id, cookie: before } = await context.signedUp();
    await context.test.rows("alter table mail_recipient rename to mail_recipient_away");
    const { cookie } = await enable(before);
    for (const path of ["/two-factor/generate-backup-codes", "/two-factor/disable"])
      expect((await context.call(path, { password: PASSWORD }, { cookie })).status).toBe(200);
    await context.test.rows("alter table mail_recipient_away rename to mail_recipient");
    const kept = await context.test.rows("select kind from account_notice where user_id = $1 order by id", [
      id,
    ]);
    expect(kept.map(({ kind }) => kind)).toEqual([
      "two_factor_enabled",
      "backup_codes_created",
      "two_factor_disabled",
    ]);
  });

  it("has new backup codes recorded and mailed, once the password was right", async () => {
    const { id, email, cookie } = await enabled();
    const create = (password: string) =>
      context.call("/two-factor/generate-backup-codes", { password }, { cookie });
    const mailed = () => context.mails.filter(({ to }) => to === email).at(-1)?.subject;
    expect((await create("not this one")).status).toBe(400);
    expect(mailed()).toBe("Two-factor authentication is on");
    expect((await create(PASSWORD)).status).toBe(200);
    expect(mailed()).toBe("New backup codes for your account");
    const recorded = "select actor_id, address from audit_entry where target_id = $1 and action = $2";
    expect(await context.test.rows(recorded, [id, "user.backup_codes_created"])).toEqual([
      { actor_id: id, address: ADDRESS },
    ]);
  });

  it("is mailed to be off where its session ends meanwhile, too: that refuses the next session alone", async () => {
    const { email, cookie } = await enabled();
    await context.test.rows(`create function end_sessions() returns trigger language plpgsql as
      $$ begin delete from session where user_id = new.id; return new; end $$`);
    await context.test.rows(`create trigger end_sessions after update of two_factor_enabled on "user"
      for each row when (new.email = '${email}') execute function end_sessions()`);
    const disabled = await context.call("/two-factor/disable", { password: PASSWORD }, { cookie });
    expect(disabled.status).toBe(401);
    expect(await (await signIn(email)).json()).toMatchObject({ user: { email } });
    expect(context.mails.filter(({ to }) => to === email).at(-1)?.subject).toBe(
      "Two-factor authentication is off",
    );
  });

  async function trustedDevice({ email, totpURI }: { email: string; totpURI: string }) {
    const pending = cookieOf(await signIn(email));
    const body = { code: totp(totpURI), trustDevice: true };
    return trustOf(await context.call("/two-factor/verify-totp", body, { cookie: pending }));
  }

  const trustOf = (response: Response) =>
    cookieOf(response)
      .split("; ")
      .find((pair) => pair.includes("trust_device"));

  it("trusts a device on request, until the password is reset", async () => {
    const person = await enabled();
    const { email } = person;
    const trust = await trustedDevice(person);
    const trusted = await signIn(email, { cookie: trust });
    expect(await trusted.json()).toMatchObject({ user: { email } });
    await context.call("/request-password-reset", { email });
    const token = /reset-password\/([\w-]+)/.exec(context.mails.at(-1)?.text ?? "")?.[1];
    expect((await context.call("/reset-password", { token, newPassword: PASSWORD })).status).toBe(200);
    const fresh = trustOf(trusted);
    expect(await (await signIn(email, { cookie: fresh })).json()).toMatchObject({ twoFactorRedirect: true });
  });

  it("trusts no device from before it was set up anew", async () => {
    const person = await enabled();
    const { email, cookie } = person;
    const trust = await trustedDevice(person);
    const disabled = await context.call("/two-factor/disable", { password: PASSWORD }, { cookie });
    await enable(cookieOf(disabled));
    expect(await (await signIn(email, { cookie: trust })).json()).toMatchObject({ twoFactorRedirect: true });
  });

  it("is required of administrators when configured", async () => {
    const strict = onDatabase(context.test, [], [], { requireAdminTwoFactor: true });
    const plain = await context.signedUp();
    const secured = await enabled();
    await context.test.rows(`update "user" set role = 'admin' where id = any ($1)`, [[plain.id, secured.id]]);
    expect((await strict.identify({ cookie: plain.cookie })).caller).toMatchObject({ needsTwoFactor: true });
    expect((await strict.identify({ cookie: secured.cookie })).caller).not.toHaveProperty("needsTwoFactor");
    expect((await context.identify({ cookie: plain.cookie })).caller).not.toHaveProperty("needsTwoFactor");
  });
});
