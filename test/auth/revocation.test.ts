import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { newApiKey } from "../../src/auth/callers/api-key.ts";
import { newLinkSecret } from "../../src/auth/plugin-link.ts";
import { importUsers } from "../../src/import/import-users.ts";
import { insertApiKey } from "../../src/store/keys/api-keys.ts";
import { findPluginLink, replacePluginLink } from "../../src/store/keys/plugin-links.ts";
import { putExternalUser } from "../../src/store/users/external-users.ts";
import { cookieOf } from "../support/people.ts";
import { withoutAudit } from "../support/without-audit.ts";
import { accounts, PASSWORD } from "./accounts.ts";

const SHOP = { keyId: "shop", address: "192.0.2.7" };
const NEW_PASSWORD = "another good password";

describe("a new password", () => {
  const context = accounts();

  async function keyOf(userId: string): Promise<string> {
    const { key, prefix, hash } = newApiKey();
    await insertApiKey(context.test.database, { userId, name: "Key", prefix, hash, expiresAt: null });
    return key;
  }

  /** Whether the person's calendar address works. */
  async function hasLink(userId: string): Promise<boolean> {
    return (await findPluginLink(context.test.database, { userId, plugin: "renewals" })) !== null;
  }

  async function createLink(userId: string): Promise<void> {
    await replacePluginLink(context.test.database, {
      userId,
      plugin: "renewals",
      hash: newLinkSecret().hash,
    });
  }

  async function resetToken(email: string): Promise<string> {
    expect((await context.call("/request-password-reset", { email })).status).toBe(200);
    const mail = context.mails.findLast(({ to }) => to === email);
    return /reset-password\/([\w-]+)/.exec(mail?.text ?? "")?.[1] ?? "";
  }

  const kindWith = (key: string) =>
    context.identify({ "x-api-key": key }).then(
      ({ caller }) => caller.kind,
      ({ code }) => code,
    );

  it("revokes all keys, sessions and links after a reset", async () => {
    const { id, email, cookie } = await context.signedUp();
    const key = await keyOf(id);
    await createLink(id);
    const older = await resetToken(email);
    const newest = await resetToken(email);
    await context.call("/change-email", { newEmail: `new-${email}` }, { cookie });
    const change = context.mails.findLast(({ to }) => to === email)?.text ?? "";

    const reset = await context.call("/reset-password", { token: newest, newPassword: NEW_PASSWORD });
    expect(reset.status).toBe(200);
    expect(await kindWith(key)).toBe("unauthorized");
    expect(await hasLink(id)).toBe(false);
    expect((await context.identify({ cookie })).caller.kind).toBe("anonymous");
    const secondReset = await context.call("/reset-password", { token: older, newPassword: PASSWORD });
    expect(secondReset.status).toBe(400);
    const token = /token=([\w-]+)/.exec(change)?.[1];
    expect((await context.call("/confirm-email-change", { token })).status).toBe(400);
    const notified = await context.test.rows(
      "select details from notification where user_id = $1 and kind = $2",
      [id, "password_changed"],
    );
    expect(notified).toEqual([{ details: { keys: 1 } }]);
    const audited = await context.test.rows("select action, details from audit_entry where target_id = $1", [
      id,
    ]);
    expect(audited).toEqual([{ action: "user.password_reset", details: { revokedKeys: 1 } }]);
  });

  type Person = Awaited<ReturnType<typeof context.signedUp>>;

  const prepareReset = async ({ email }: Person) => {
    const token = await resetToken(email);
    return () => context.call("/reset-password", { token, newPassword: NEW_PASSWORD });
  };

  const prepareChange = async ({ cookie }: Person, more: { revokeApiKeys?: true } = {}) => {
    const body = { currentPassword: PASSWORD, newPassword: NEW_PASSWORD, ...more };
    return () => context.call("/change-password", body, { cookie });
  };

  it.each([
    ["reset", prepareReset],
    ["change", prepareChange],
  ])("is told to its owner by one mail after a %s, whatever notifications are wanted", async (_, prepare) => {
    const person = await context.signedUp();
    await context.test.rows(`update "user" set preferences = '{"emailNotifications": false}' where id = $1`, [
      person.id,
    ]);
    const setPassword = await prepare(person);
    const before = context.mails.length;
    expect((await setPassword()).status).toBe(200);
    expect(context.mails.slice(before)).toMatchObject([
      { to: person.email, subject: "Your account has a new password" },
    ]);
    const notified = await context.test.rows(
      "select mail_after::text as mailed from notification where user_id = $1 and kind = 'password_changed'",
      [person.id],
    );
    expect(notified).toEqual([{ mailed: "infinity" }]);
  });

  it("is mailed to its owner even if a later step of the reset fails", async () => {
    const person = await context.signedUp();
    const setPassword = await prepareReset(person);
    const before = context.mails.length;
    await context.test.rows("alter table sign_in_failure rename to sign_in_failure_away");
    expect((await setPassword()).status).toBe(500);
    await context.test.rows("alter table sign_in_failure_away rename to sign_in_failure");
    expect(context.mails.slice(before)).toMatchObject([{ subject: "Your account has a new password" }]);
    const signIn = await context.call("/sign-in/email", { email: person.email, password: NEW_PASSWORD });
    expect(signIn.status).toBe(200);
  });

  it("is set although its mail cannot be counted", async () => {
    const person = await context.signedUp();
    const setPassword = await prepareChange(person);
    await context.test.rows("alter table mail_recipient rename to mail_recipient_away");
    const changed = await setPassword();
    await context.test.rows("alter table mail_recipient_away rename to mail_recipient");
    expect([changed.status, cookieOf(changed)]).toEqual([200, expect.stringContaining("session")]);
  });

  it.each([
    ["reset", prepareReset, 0],
    ["change", prepareChange, 1],
  ])(
    "leaves no session to a sign-in with the old password that began before a %s",
    async (_, prepare, left) => {
      const person = await context.signedUp();
      const end = await prepare(person);
      const signIns = Array.from({ length: 8 }, async (_, n) => {
        await sleep(n * 40);
        const body = { email: person.email, password: PASSWORD };
        return cookieOf(await context.call("/sign-in/email", body));
      });
      expect((await end()).status).toBe(200);
      const cookies = (await Promise.all(signIns)).filter((cookie) => cookie !== "");
      const kinds = await Promise.all(
        cookies.map(async (cookie) => (await context.identify({ cookie })).caller.kind),
      );
      expect(kinds.filter((kind) => kind !== "anonymous")).toEqual([]);
      const sessions = await context.test.rows("select id from session where user_id = $1", [person.id]);
      expect(sessions).toHaveLength(left);
    },
  );

  it("revokes other sessions and links after a change, but no keys", async () => {
    const { id, email, cookie } = await context.signedUp();
    const key = await keyOf(id);
    await createLink(id);
    const token = await resetToken(email);
    const otherSession = cookieOf(await context.call("/sign-in/email", { email, password: PASSWORD }));
    const body = { currentPassword: PASSWORD, newPassword: NEW_PASSWORD };
    const changed = await context.call("/change-password", body, { cookie });
    expect(changed.status).toBe(200);
    expect((await context.identify({ cookie: cookieOf(changed) })).caller).toMatchObject({ userId: id });
    expect((await context.identify({ cookie: otherSession })).caller.kind).toBe("anonymous");
    expect((await context.call("/reset-password", { token, newPassword: PASSWORD })).status).toBe(400);
    expect(await kindWith(key)).toBe("api-key");
    expect(await hasLink(id)).toBe(true);
  });

  it("also revokes keys after a change with revokeApiKeys", async () => {
    const { id, cookie } = await context.signedUp();
    const key = await keyOf(id);
    await createLink(id);
    const body = { currentPassword: PASSWORD, newPassword: NEW_PASSWORD, revokeApiKeys: true };
    expect((await context.call("/change-password", body, { cookie })).status).toBe(200);
    expect([await kindWith(key), await hasLink(id)]).toEqual(["unauthorized", false]);
  });

  const prepareChangeWithKeys = (person: Person) => prepareChange(person, { revokeApiKeys: true });

  it.each([
    ["reset", prepareReset],
    ["change", prepareChangeWithKeys],
  ])("is not set by a %s that cannot record what it revokes, and can be tried again", async (_, prepare) => {
    const person = await context.signedUp();
    const key = await keyOf(person.id);
    const setPassword = await prepare(person);
    const signIn = (password: string) => context.call("/sign-in/email", { email: person.email, password });

    const notified = () =>
      context.test.rows("select kind from notification where user_id = $1 and kind = 'password_changed'", [
        person.id,
      ]);
    await withoutAudit(context.test, async () => expect((await setPassword()).status).toBe(500));
    expect(await notified()).toEqual([]);
    expect(await kindWith(key)).toBe("api-key");
    expect((await signIn(NEW_PASSWORD)).status).toBe(401);

    expect((await setPassword()).status).toBe(200);
    expect(await kindWith(key)).toBe("unauthorized");
    expect(await notified()).toHaveLength(1);
    expect((await signIn(NEW_PASSWORD)).status).toBe(200);
  });

  it("revokes keys also when it is the first password of somebody whom another system has created", async () => {
    const id = `external-${randomUUID()}`;
    const email = `${id}@example.com`;
    await putExternalUser(context.test.database, { newId: id, externalId: id, email, name: "Ana" }, SHOP);
    const key = await keyOf(id);
    const token = await resetToken(email);
    const reset = await context.call("/reset-password", { token, newPassword: NEW_PASSWORD });
    expect([reset.status, await kindWith(key)]).toEqual([200, "unauthorized"]);
    const audited = await context.test.rows("select details from audit_entry where target_id = $1", [id]);
    expect(audited).toEqual([{ details: { revokedKeys: 1 } }]);
  });

  it("leaves everybody else's keys, sessions and links", async () => {
    const other = await context.signedUp();
    const key = await keyOf(other.id);
    await createLink(other.id);
    const token = await resetToken(other.email);
    await context.call("/change-email", { newEmail: `new-${other.email}` }, { cookie: other.cookie });

    const reset = await prepareReset(await context.signedUp());
    expect((await reset()).status).toBe(200);
    const { cookie } = await context.signedUp();
    const body = { currentPassword: PASSWORD, newPassword: NEW_PASSWORD, revokeApiKeys: true };
    expect((await context.call("/change-password", body, { cookie })).status).toBe(200);

    expect([await kindWith(key), await hasLink(other.id)]).toEqual(["api-key", true]);
    expect((await context.identify({ cookie: other.cookie })).caller).toMatchObject({ userId: other.id });
    expect(await context.test.rows("select from email_change where user_id = $1", [other.id])).toHaveLength(
      1,
    );
    expect((await context.call("/reset-password", { token, newPassword: NEW_PASSWORD })).status).toBe(200);
  });

  it("is refused for a wrong current password, without revoking anything", async () => {
    const { id, cookie } = await context.signedUp();
    const key = await keyOf(id);
    const body = { currentPassword: "wrong password", newPassword: NEW_PASSWORD, revokeApiKeys: true };
    expect((await context.call("/change-password", body, { cookie })).status).toBe(400);
    expect(await kindWith(key)).toBe("api-key");
  });
});

describe("ending all other sessions", () => {
  const context = accounts();

  it("leaves only the one that asks, however many there are, and nobody else's", async () => {
    const { id, cookie } = await context.signedUp();
    const other = await context.signedUp();
    await context.test.rows(
      `insert into session (id, user_id, token, expires_at)
       select gen_random_uuid(), $1, gen_random_uuid(), now() + interval '1 day' from generate_series(1, 250)`,
      [id],
    );
    const ended = await context.call("/revoke-other-sessions", {}, { cookie });
    expect([ended.status, await ended.json()]).toEqual([200, { status: true }]);
    const rest = await context.test.rows("select user_id from session order by user_id = $1 desc", [id]);
    expect(rest).toEqual([{ user_id: id }, { user_id: other.id }]);
    expect((await context.identify({ cookie })).caller.kind).toBe("session");
  });

  it("returns 401 without a session", async () => {
    const { cookie } = await context.signedUp();
    await context.call("/sign-out", {}, { cookie });
    for (const headers of [{}, { cookie }] as Record<string, string>[])
      expect((await context.call("/revoke-other-sessions", {}, headers)).status).toBe(401);
  });
});

describe("another system", () => {
  const context = accounts();

  const put = (newId: string, email: string, name = "Ana") =>
    putExternalUser(context.test.database, { newId, externalId: newId, email, name }, SHOP);

  const importAgain = (id: string, email: string, name = "Ana") =>
    importUsers(
      { database: context.test.database, leaseSeconds: 30 },
      {
        identity: [randomUUID()],
        read: async () => ({ rows: [{ fields: { externalId: id, email, name } }], next: null }),
      },
      { dryRun: false, notify: false, progressed: () => {}, waiting: () => {} },
    );

  /** A link to set a password is mailed, then the user is changed. Returns the status of using the link. */
  async function linkAfter(change: typeof put | typeof importAgain, id: string, newEmail?: string) {
    const email = `${id}@example.com`;
    await put(id, email);
    await context.call("/request-password-reset", { email });
    const mail = context.mails.findLast((sent) => sent.to === email);
    const token = /reset-password\/([\w-]+)/.exec(mail?.text ?? "")?.[1];
    await change(id, newEmail ?? email, "Ana New");
    return (await context.call("/reset-password", { token, newPassword: NEW_PASSWORD })).status;
  }

  it.each([
    ["a service key", put],
    ["an import", importAgain],
  ])(
    "voids what was mailed to the old address when %s changes it, not when the name",
    async (source, change) => {
      const id = source.replace(/\W/g, "-");
      expect(await linkAfter(change, id, `${id}-new@example.com`)).toBe(400);
      expect(await linkAfter(change, `${id}-named`)).toBe(200);
    },
  );
});
