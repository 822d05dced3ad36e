import { describe, expect, it } from "vitest";
import { type EmailChangeDeps, finishEmailChange } from "../../../src/auth/routes/email-change.ts";
import { withdrawEmailChange } from "../../../src/store/users/email-changes.ts";
import { ADDRESS, APP_URL, accounts, PASSWORD } from "../accounts.ts";

describe("an email address change", () => {
  const context = accounts();

  async function requested(newEmail?: string) {
    const person = await context.signedUp();
    const requestedEmail = newEmail ?? `new-${person.email}`;
    const response = await context.call(
      "/change-email",
      { newEmail: requestedEmail },
      { cookie: person.cookie },
    );
    expect({ status: response.status, body: await response.json() }).toEqual({
      status: 200,
      body: { status: true },
    });
    return { ...person, wanted: requestedEmail, old: tokenTo(person.email), fresh: tokenTo(requestedEmail) };
  }

  function tokenTo(address: string): string | undefined {
    const mail = context.mails.findLast(({ to }) => to === address);
    return /confirm-email-change\?token=([\w-]+)/.exec(mail?.text ?? "")?.[1];
  }

  const confirm = async (token: string | undefined) => {
    const response = await context.call("/confirm-email-change", { token });
    return { status: response.status, body: await response.json() };
  };

  it("takes effect once both addresses have confirmed, in either order", async () => {
    for (const first of ["old", "fresh"] as const) {
      const change = await requested();
      expect(await confirm(change[first])).toEqual({ status: 200, body: { status: true, changed: false } });
      const signIn = (email: string) => context.call("/sign-in/email", { email, password: PASSWORD });
      expect((await signIn(change.wanted)).status).toBe(401);
      const second = first === "old" ? "fresh" : "old";
      expect(await confirm(change[second])).toEqual({ status: 200, body: { status: true, changed: true } });
      expect((await signIn(change.wanted)).status).toBe(200);
      expect((await signIn(change.email)).status).toBe(401);
      expect(context.mails.at(-1)).toMatchObject({ to: change.email });
      const [user] = await context.test.rows('select email_verified from "user" where id = $1', [change.id]);
      expect(user).toEqual({ email_verified: true });
      const notified = await context.test.rows("select kind from notification where user_id = $1", [
        change.id,
      ]);
      expect(notified).toEqual([{ kind: "email_changed" }]);
      const audited = await context.test.rows(
        "select actor_kind, actor_id, address, action from audit_entry where target_id = $1",
        [change.id],
      );
      expect(audited).toEqual([
        { actor_kind: "session", actor_id: change.id, address: ADDRESS, action: "user.email_changed" },
      ]);
    }
  });

  it("does not take effect with somebody else's, although a killed server has left it confirmed", async () => {
    const [left, other] = [await requested(), await requested()];
    await context.test.rows(
      "update email_change set old_confirmed_at = now(), new_confirmed_at = now() where user_id = $1",
      [left.id],
    );
    const emailOf = async ({ id }: { id: string }) =>
      (await context.test.rows<{ email: string }>('select email from "user" where id = $1', [id]))[0]?.email;
    await confirm(other.old);
    expect((await confirm(other.fresh)).body).toEqual({ status: true, changed: true });
    expect([await emailOf(other), await emailOf(left)]).toEqual([other.wanted, left.email]);
    // It does with either of its own links.
    expect((await confirm(left.fresh)).body).toEqual({ status: true, changed: true });
    expect(await emailOf(left)).toBe(left.wanted);
  });

  it("voids a link to reset the password that was mailed to the old address", async () => {
    const { old, fresh, email } = await requested();
    await context.call("/request-password-reset", { email });
    const mail = context.mails.findLast(({ to }) => to === email);
    const token = /reset-password\/([\w-]+)/.exec(mail?.text ?? "")?.[1];
    await confirm(old);
    expect((await confirm(fresh)).body).toEqual({ status: true, changed: true });
    expect((await context.call("/reset-password", { token, newPassword: PASSWORD })).status).toBe(400);
  });

  it("does not take effect when one address confirms twice", async () => {
    const { fresh, id, email } = await requested();
    await confirm(fresh);
    expect(await confirm(fresh)).toEqual({ status: 200, body: { status: true, changed: false } });
    expect(await context.test.rows('select email from "user" where id = $1', [id])).toEqual([{ email }]);
  });

  it("gets the same response for a taken address, whose owner gets no mail", async () => {
    const otherUser = await context.signedUp();
    const before = context.mails.filter(({ to }) => to === otherUser.email).length;
    const { old } = await requested(otherUser.email);
    expect(await confirm(old)).toEqual({ status: 200, body: { status: true, changed: false } });
    expect(context.mails.filter(({ to }) => to === otherUser.email).length).toBe(before);
  });

  it("returns 409 when the address was taken in the meantime", async () => {
    const { old, fresh, wanted } = await requested();
    await confirm(old);
    await context.signedUp({ email: wanted });
    expect(await confirm(fresh)).toMatchObject({ status: 409, body: { code: "USER_ALREADY_EXISTS" } });
    expect(await confirm(fresh)).toMatchObject({ status: 400, body: { code: "INVALID_TOKEN" } });
  });

  it("invalidates the links of an earlier request", async () => {
    const { cookie, old, fresh, email } = await requested();
    await context.call("/change-email", { newEmail: `newer-${email}` }, { cookie });
    for (const token of [old, fresh]) expect(await confirm(token)).toMatchObject({ status: 400 });
  });

  it("needs the consent of both addresses anew when another address is requested", async () => {
    const { cookie, old, id, email } = await requested();
    await confirm(old);
    await context.call("/change-email", { newEmail: `newer-${email}` }, { cookie });
    const newer = await confirm(tokenTo(`newer-${email}`));
    expect(newer).toEqual({ status: 200, body: { status: true, changed: false } });
    expect(await context.test.rows('select email from "user" where id = $1', [id])).toEqual([{ email }]);
  });

  it("is to the address that was requested last", async () => {
    const { cookie, id, email } = await requested();
    const last = `last-${email}`;
    await context.call("/change-email", { newEmail: last }, { cookie });
    for (const address of [email, last]) await confirm(tokenTo(address));
    expect(await context.test.rows('select email from "user" where id = $1', [id])).toEqual([
      { email: last },
    ]);
  });

  it("requires a session, a different address, and confirmation within an hour", async () => {
    const { cookie, email, fresh } = await requested();
    expect((await context.call("/change-email", { newEmail: "x@example.com" })).status).toBe(401);
    expect((await context.call("/change-email", { newEmail: email }, { cookie })).status).toBe(400);
    await context.test.rows("update email_change set expires_at = now() - interval '1 second'");
    expect(await confirm(fresh)).toMatchObject({ status: 400, body: { code: "INVALID_TOKEN" } });
  });

  it("is confirmed by nobody who is banned, until the ban ends", async () => {
    const { fresh, id } = await requested();
    const banUntil = (end: string) =>
      context.test.rows(`update "user" set banned = true, ban_expires = now() + $2::interval where id = $1`, [
        id,
        end,
      ]);
    await banUntil("1 hour");
    expect(await confirm(fresh)).toMatchObject({ status: 400, body: { code: "INVALID_TOKEN" } });
    await banUntil("-1 second");
    expect(await confirm(fresh)).toEqual({ status: 200, body: { status: true, changed: false } });
  });

  it("returns 400 when a new password withdraws it in the same moment", async () => {
    const { old, fresh = "", id, email } = await requested();
    await confirm(old);
    const { database } = context.test;
    const withdrawing: EmailChangeDeps["database"] = {
      ...database,
      run: async (statement, values) => {
        if (statement.name === "apply_email_change") await withdrawEmailChange(database, id);
        return database.run(statement, values);
      },
    };
    const deps = { database: withdrawing, sendMail: async () => {}, appUrl: APP_URL };
    expect((await finishEmailChange(deps, fresh, ADDRESS)).status).toBe(400);
    expect(await context.test.rows('select email from "user" where id = $1', [id])).toEqual([{ email }]);
  });

  it("stores its tokens as hashes", async () => {
    const { old, id } = await requested();
    const rows = await context.test.rows("select old_token::text from email_change where user_id = $1", [id]);
    expect(JSON.stringify(rows)).not.toContain(old);
  });
});
