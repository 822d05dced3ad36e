import { beforeAll, describe, expect, it } from "vitest";
import { newApiKey } from "../../src/auth/callers/api-key.ts";
import { newLinkSecret } from "../../src/auth/plugin-link.ts";
import type { SignedIn } from "../../src/domain/callers/caller.ts";
import { createApiKey } from "../../src/operations/api-keys/create-api-key.ts";
import { createCalendarLink } from "../../src/operations/calendar/create-calendar-link.ts";
import { insertApiKey } from "../../src/store/keys/api-keys.ts";
import {
  lockPassword,
  revokeBeforeSecondFactor,
  revokeStaleSignIn,
} from "../../src/store/sign-in/revocations.ts";
import { lockUserOfSession } from "../../src/store/sign-in/sessions.ts";
import { disableTwoFactor } from "../../src/store/sign-in/two-factor-changes.ts";
import { inTransaction } from "../../src/store/transaction.ts";
import {
  applyEmailChange,
  confirmEmailChange,
  requestEmailChange,
  withdrawEmailChange,
} from "../../src/store/users/email-changes.ts";
import { cookieOf } from "../support/people.ts";
import { totp } from "../support/totp.ts";
import { ADDRESS, APP_URL, accounts, PASSWORD } from "./accounts.ts";
import { HOLDING_LIMITS, untilWaiting } from "./held-locks.ts";

const NEW_PASSWORD = "another good password";
const STRANGERS_PASSWORD = "the password of a stranger";

const LOCK_USER = { name: "lock_user", text: 'select from "user" where id = $1 for update' };
/** Notifications may be written meanwhile. */
const LOCK_AS_REVOCATION = {
  name: "lock_as_revocation",
  text: 'select from "user" where id = $1 for no key update',
};
const LOCK_SESSIONS = {
  name: "lock_sessions",
  text: "select from session where user_id = $1 for update",
};
/** Stops whoever starts a session, and nobody else. */
const SESSION_GATE = `
create function wait_at_gate() returns trigger language plpgsql as
$$ begin perform pg_advisory_xact_lock_shared(1); return new; end $$;
create trigger session_gate before insert on session for each row execute function wait_at_gate()`;
const CLOSE_SESSION_GATE = { name: "close_session_gate", text: "select pg_advisory_xact_lock(1)" };
const CLOSE_AFTER_CHANGE = { name: "close_after_change", text: "select pg_advisory_xact_lock(2)" };
const END_SESSIONS = { name: "end_sessions", text: "delete from session where user_id = $1" };
const REMOVE_SET_UP = { name: "remove_set_up", text: "delete from two_factor where user_id = $1" };
const DELETE_USER = { name: "delete_user", text: 'delete from "user" where id = $1' };
const LOCK_KEYS = { name: "lock_keys", text: "select from api_key where user_id = $1 for update" };
const LOCK_SECOND_FACTOR = {
  name: "lock_second_factor",
  text: "select from two_factor where user_id = $1 for update",
};
const FORGET_LINKS = { name: "forget_links", text: "delete from verification where value = $1" };
const NEVER_CHECK_FOR_DEADLOCKS = {
  name: "wait_for_deadlocks",
  text: "set local deadlock_timeout = '10min'",
};
const TAKE_ADDRESS = {
  name: "take_address",
  text: `insert into "user" (id, name, email) values ($1, 'Early', $1 || '@example.com')`,
};
const STORE_SET_UP = {
  name: "store_set_up",
  text: "insert into two_factor (id, user_id, secret, backup_codes) values ($1, $1, 'other', 'other')",
};

// Whatever the machine's load lets come first: the later one counts, and nothing from before it is left.
describe("a request that is under way", () => {
  const context = accounts();

  type SignedUp = Awaited<ReturnType<typeof context.signedUp>>;

  async function setUp({ cookie }: SignedUp): Promise<{ totpURI: string; backupCodes: string[] }> {
    const response = await context.call("/two-factor/enable", { password: PASSWORD }, { cookie });
    return (await response.json()) as { totpURI: string; backupCodes: string[] };
  }

  async function enable(person: SignedUp) {
    const { totpURI, backupCodes } = await setUp(person);
    const verified = await context.call(
      "/two-factor/verify-totp",
      { code: totp(totpURI) },
      { cookie: person.cookie },
    );
    expect(verified.status).toBe(200);
    return { cookie: cookieOf(verified), backupCodes };
  }

  const signIn = (email: string, password: string) => context.call("/sign-in/email", { email, password });

  async function prepareReset({ email }: SignedUp): Promise<() => Promise<Response>> {
    await context.call("/request-password-reset", { email });
    const mail = context.mails.findLast(({ to }) => to === email);
    const token = /reset-password\/([\w-]+)/.exec(mail?.text ?? "")?.[1];
    return () => context.call("/reset-password", { token, newPassword: NEW_PASSWORD });
  }

  const waiting = (count: number) => untilWaiting(context.test, count);

  const sessionsOf = async ({ id }: SignedUp) =>
    (await context.test.rows("select id from session where user_id = $1", [id])).length;

  const linksOf = async ({ id }: SignedUp) =>
    (await context.test.rows("select id from verification where value = $1", [id])).length;

  it("changes no password that has been reset since, and gets no session", async () => {
    const person = await context.signedUp();
    const reset = await prepareReset(person);
    const body = { currentPassword: PASSWORD, newPassword: STRANGERS_PASSWORD };
    let responses: Promise<Response>[] = [];
    await inTransaction(context.test.database, HOLDING_LIMITS, async (transaction) => {
      await lockPassword(transaction, person.id);
      // The lock is granted in the order in which it was asked for.
      responses = [reset()];
      await waiting(1);
      responses.push(context.call("/change-password", body, { cookie: person.cookie }));
      await waiting(2);
    });
    expect((await Promise.all(responses)).map(({ status }) => status)).toEqual([200, 401]);
    expect(await sessionsOf(person)).toBe(0);
    expect((await signIn(person.email, STRANGERS_PASSWORD)).status).toBe(401);
    expect((await signIn(person.email, NEW_PASSWORD)).status).toBe(200);
  });

  beforeAll(async () => {
    await context.test.rows(SESSION_GATE);
  });

  /** The request has checked the password or code, and starts its session when the reset has been answered. */
  async function runDuringReset(person: SignedUp, request: () => Promise<Response>): Promise<Response> {
    const reset = await prepareReset(person);
    let response: Promise<Response> | undefined;
    await inTransaction(context.test.database, HOLDING_LIMITS, async (transaction) => {
      await transaction.run(CLOSE_SESSION_GATE);
      response = request();
      await waiting(1);
      expect((await reset()).status).toBe(200);
    });
    return response as unknown as Promise<Response>;
  }

  it("gets no session from turning two-factor off once a reset has happened", async () => {
    const person = await context.signedUp();
    const { cookie } = await enable(person);
    const { status } = await runDuringReset(person, () =>
      context.call("/two-factor/disable", { password: PASSWORD }, { cookie }),
    );
    expect([status, await sessionsOf(person)]).toEqual([401, 0]);
  });

  it("is told that the password is wrong once a reset has replaced it, and gets no session", async () => {
    const person = await context.signedUp();
    const response = await runDuringReset(person, () => signIn(person.email, PASSWORD));
    expect([response.status, await response.json()]).toMatchObject([
      401,
      { code: "INVALID_EMAIL_OR_PASSWORD" },
    ]);
    expect(await sessionsOf(person)).toBe(0);
  });

  it("gets no session or trusted device from a second factor once a reset has happened", async () => {
    const person = await context.signedUp();
    const { backupCodes } = await enable(person);
    const pending = cookieOf(await signIn(person.email, PASSWORD));
    const body = { code: backupCodes[0], trustDevice: true };
    const response = await runDuringReset(person, () =>
      context.call("/two-factor/verify-backup-code", body, { cookie: pending }),
    );
    expect([response.status, await response.json()]).toMatchObject([
      401,
      { code: "INVALID_TWO_FACTOR_COOKIE" },
    ]);
    expect([await sessionsOf(person), await linksOf(person)]).toEqual([0, 0]);
  });

  const creationDeps = () => ({
    database: context.test.database,
    appUrl: APP_URL,
    newApiKey,
    newLinkSecret,
  });
  const CREATIONS = {
    "an API key": (caller: SignedIn, deps: ReturnType<typeof creationDeps>) =>
      createApiKey.run(deps, caller, { name: "Key" }, {}),
    "a calendar address": (caller: SignedIn, deps: ReturnType<typeof creationDeps>) =>
      createCalendarLink.run(deps, caller, {}, {}),
  };
  const valid = (what: keyof typeof CREATIONS, { id }: SignedUp) =>
    context.test.rows(
      what === "an API key"
        ? "select id from api_key where user_id = $1 and revoked_at is null"
        : "select id from plugin_link where user_id = $1",
      [id],
    );

  it.each(Object.keys(CREATIONS) as (keyof typeof CREATIONS)[])(
    "is refused %s once a reset has ended its session",
    async (what) => {
      const person = await context.signedUp();
      const { caller } = await context.identify({ cookie: person.cookie });
      const reset = await prepareReset(person);
      let resetting: Promise<Response> | undefined;
      let creating: Promise<unknown> | undefined;
      await inTransaction(context.test.database, HOLDING_LIMITS, async (transaction) => {
        await transaction.run(LOCK_AS_REVOCATION, [person.id]);
        resetting = reset();
        await waiting(1);
        creating = CREATIONS[what](caller as SignedIn, creationDeps()).catch((error) => error);
        await waiting(2);
      });
      expect((await resetting)?.status).toBe(200);
      expect(await creating).toMatchObject({ reason: "unauthorized" });
      expect(await valid(what, person)).toEqual([]);
    },
  );

  it("has the API key revoked that it created just before a reset", async () => {
    const person = await context.signedUp();
    const { caller } = await context.identify({ cookie: person.cookie });
    const reset = await prepareReset(person);
    let resetting: Promise<Response> | undefined;
    await inTransaction(context.test.database, HOLDING_LIMITS, async (transaction) => {
      expect(await lockUserOfSession(transaction, caller as SignedIn)).toBe(true);
      const { prefix, hash } = newApiKey();
      const key = { userId: person.id, name: "Key", prefix, hash, expiresAt: null };
      const created = insertApiKey(transaction, key);
      resetting = reset();
      await waiting(1);
      await transaction.commitAfter([created]);
    });
    expect((await resetting)?.status).toBe(200);
    expect(await valid("an API key", person)).toEqual([]);
  });

  it("changes no address once a new password has withdrawn the change", async () => {
    const { id, email } = await context.signedUp();
    const [old, fresh] = [Buffer.from("old"), Buffer.from("fresh")];
    const change = {
      userId: id,
      newEmail: `new-${email}`,
      oldToken: old,
      newToken: fresh,
      validForSeconds: 60,
    };
    await requestEmailChange(context.test.database, change);
    for (const token of [old, fresh]) await confirmEmailChange(context.test.database, token);
    let applying: Promise<unknown> | undefined;
    await inTransaction(context.test.database, HOLDING_LIMITS, async (transaction) => {
      // As a new password does: the user first, then all that is open.
      await transaction.run(LOCK_USER, [id]);
      applying = applyEmailChange(context.test.database, id, ADDRESS).catch((error) => error);
      await waiting(1);
      await withdrawEmailChange(transaction, id);
      await transaction.commitAfter([]);
    });
    expect(await applying).toBeNull();
    expect(await context.test.rows('select email from "user" where id = $1', [id])).toEqual([{ email }]);
  });

  it.each([
    // Repeated, the reset reads its link before or after it is deleted.
    ["is deleted", DELETE_USER, 400, ["INVALID_TOKEN", "USER_NOT_FOUND"]],
    ["stays", null, 200, [undefined]],
  ] as const)(
    "is no defect when PostgreSQL ends the reset for a transaction, and the account %s",
    async (_, last, status, codes) => {
      const person = await context.signedUp();
      const reset = await prepareReset(person);
      const key = newApiKey();
      await insertApiKey(context.test.database, {
        ...{ userId: person.id, name: "Key", prefix: key.prefix, hash: key.hash, expiresAt: null },
      });
      let resetting: Promise<Response> | undefined;
      let deleting: Promise<unknown> | undefined;
      await inTransaction(context.test.database, HOLDING_LIMITS, async (pause) => {
        await pause.run(LOCK_KEYS, [person.id]);
        resetting = reset();
        // It has used the link, and revokes the key.
        await waiting(1);
        deleting = inTransaction(context.test.database, HOLDING_LIMITS, async (transaction) => {
          // So that the reset is the one to find the deadlock.
          await transaction.run(NEVER_CHECK_FOR_DEADLOCKS);
          await transaction.run(LOCK_USER, [person.id]);
          await transaction.run(FORGET_LINKS, [person.id]);
          if (last !== null) await transaction.commitAfter([transaction.run(last, [person.id])]);
        });
        await waiting(2);
      });
      await deleting;
      const response = (await resetting) as Response;
      expect(response.status).toBe(status);
      const { code } = (await response.json()) as { code?: string };
      expect(codes).toContain(code);
    },
  );

  it.each([
    ["a second factor", (id: string) => revokeBeforeSecondFactor(context.test.database, id, "none")],
    [
      "a late sign-in",
      (userId: string) => revokeStaleSignIn(context.test.database, { userId, token: userId }),
    ],
  ])("ends the sessions of %s although a new password is ending them", async (_, revoke) => {
    const person = await context.signedUp();
    await prepareReset(person);
    await context.test.rows("update session set token = user_id where user_id = $1", [person.id]);
    let revoking: Promise<unknown> | undefined;
    await inTransaction(context.test.database, HOLDING_LIMITS, async (transaction) => {
      await transaction.run(NEVER_CHECK_FOR_DEADLOCKS);
      // As a new password does: the sessions first, then the links.
      await transaction.run(LOCK_AS_REVOCATION, [person.id]);
      await transaction.run(LOCK_SESSIONS, [person.id]);
      revoking = revoke(person.id).catch((error) => error);
      await waiting(1);
      await transaction.commitAfter([transaction.run(FORGET_LINKS, [person.id])]);
    });
    expect(await revoking).toBeUndefined();
    expect([await sessionsOf(person), await linksOf(person)]).toEqual([0, 0]);
  });

  it("is refused without an error in the log when somebody else takes the address of a new account", async () => {
    const linesBefore = context.lines.length;
    let signingUp: Promise<Response> | undefined;
    await inTransaction(context.test.database, HOLDING_LIMITS, async (transaction) => {
      await transaction.run(TAKE_ADDRESS, ["taken"]);
      const body = { name: "Late", email: "taken@example.com", password: PASSWORD };
      signingUp = context.call("/sign-up/email", body);
      await waiting(1);
      await transaction.commitAfter([]);
    });
    expect(((await signingUp) as unknown as Response).status).toBe(409);
    const lines = context.lines.slice(linesBefore);
    expect(lines.filter(({ level }) => level === "error")).toEqual([]);
  });

  it("sets two-factor up although another set-up is stored first, and replaces it", async () => {
    const person = await context.signedUp();
    let settingUp: Promise<Response> | undefined;
    await inTransaction(context.test.database, HOLDING_LIMITS, async (transaction) => {
      await transaction.run(STORE_SET_UP, [person.id]);
      settingUp = context.call("/two-factor/enable", { password: PASSWORD }, { cookie: person.cookie });
      await waiting(1);
      await transaction.commitAfter([]);
    });
    const response = (await settingUp) as Response;
    expect(response.status).toBe(200);
    const { totpURI } = (await response.json()) as { totpURI: string };
    const body = { code: totp(totpURI) };
    const { status } = await context.call("/two-factor/verify-totp", body, { cookie: person.cookie });
    expect(status).toBe(200);
  });

  it("is refused to set two-factor up when another set-up is stored first, and confirmed then", async () => {
    const person = await context.signedUp();
    await context.test.rows(`create function wait_for_confirmation() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock_shared(3); return null; end $$`);
    await context.test.rows(`create trigger waits before update on two_factor
      for each statement execute function wait_for_confirmation()`);
    let settingUp: Promise<Response> | undefined;
    await inTransaction(context.test.database, HOLDING_LIMITS, async (confirming) => {
      await confirming.run({ name: "", text: "select pg_advisory_xact_lock(3)" });
      await inTransaction(context.test.database, HOLDING_LIMITS, async (storing) => {
        await storing.run(STORE_SET_UP, [person.id]);
        settingUp = context.call("/two-factor/enable", { password: PASSWORD }, { cookie: person.cookie });
        await waiting(1);
        await storing.commitAfter([]);
      });
      await waiting(1);
      // Without the trigger, which waits for this transaction.
      await confirming.run({ name: "", text: "set local session_replication_role = replica" });
      await confirming.commitAfter([
        confirming.run({ name: "", text: "update two_factor set verified = true" }),
      ]);
    });
    const response = (await settingUp) as Response;
    await context.test.rows("drop function wait_for_confirmation cascade");
    expect({ status: response.status, ...(await response.json()) }).toMatchObject({
      status: 400,
      code: "TOTP_ALREADY_ENABLED",
    });
  });

  it("leaves one of two sessions that end all others at once", async () => {
    const person = await context.signedUp();
    const cookies = [person.cookie, cookieOf(await signIn(person.email, PASSWORD))];
    let responding: Promise<Response>[] = [];
    await inTransaction(context.test.database, HOLDING_LIMITS, async (transaction) => {
      await transaction.run(LOCK_SESSIONS, [person.id]);
      responding = cookies.map((cookie) => context.call("/revoke-other-sessions", {}, { cookie }));
      await waiting(2);
    });
    const statuses = (await Promise.all(responding)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 401]);
    expect(await sessionsOf(person)).toBe(1);
  });

  it("has to sign in again when another backup code is used at the same moment, and keeps its own", async () => {
    const person = await context.signedUp();
    const { backupCodes } = await enable(person);
    const verifying = async (code: unknown) => {
      const cookie = cookieOf(await signIn(person.email, PASSWORD));
      return () => context.call("/two-factor/verify-backup-code", { code }, { cookie });
    };
    const codes = backupCodes.slice(0, 2);
    const attempts = [await verifying(codes[0]), await verifying(codes[1])];
    let responding: Promise<Response>[] = [];
    await inTransaction(context.test.database, HOLDING_LIMITS, async (transaction) => {
      await transaction.run(LOCK_SECOND_FACTOR, [person.id]);
      responding = attempts.map((attempt) => attempt());
      await waiting(2);
      await transaction.commitAfter([]);
    });
    const responses = await Promise.all(responding);
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 401]);
    const refused = responses.findIndex(({ status }) => status === 401);
    expect(await responses[refused]?.json()).toMatchObject({ code: "INVALID_TWO_FACTOR_COOKIE" });
    const again = await verifying(codes[refused]);
    expect((await again()).status).toBe(200);
  });

  it.each([
    ["/sign-in/email", ({ email }: SignedUp) => ({ email, password: PASSWORD })],
    ["/two-factor/enable", () => ({ password: PASSWORD })],
    ["/two-factor/disable", () => ({ password: PASSWORD })],
    ["/update-user", () => ({ name: "Somebody Else" })],
  ])("is answered with 401 by %s when its account is deleted meanwhile", async (path, bodyOf) => {
    const person = await context.signedUp();
    let calling: Promise<Response> | undefined;
    await inTransaction(context.test.database, HOLDING_LIMITS, async (transaction) => {
      await transaction.run(LOCK_USER, [person.id]);
      calling = context.call(path, bodyOf(person), { cookie: person.cookie });
      await waiting(1);
      await transaction.commitAfter([transaction.run(DELETE_USER, [person.id])]);
    });
    const response = (await calling) as Response;
    expect([response.status, await response.json()]).toMatchObject([401, { code: "UNAUTHORIZED" }]);
  });

  it("turns two-factor neither on nor off once its session has ended", async () => {
    const person = await context.signedUp();
    const { totpURI } = await setUp(person);
    const whileItEnds = async (path: string, body: object, cookie: string) => {
      let calling: Promise<Response> | undefined;
      await inTransaction(context.test.database, HOLDING_LIMITS, async (transaction) => {
        await transaction.run(LOCK_AS_REVOCATION, [person.id]);
        calling = context.call(path, body, { cookie });
        await waiting(1);
        await transaction.commitAfter([transaction.run(END_SESSIONS, [person.id])]);
      });
      return ((await calling) as Response).status;
    };
    const codeOfStranger = { code: totp(totpURI) };
    expect(await whileItEnds("/two-factor/verify-totp", codeOfStranger, person.cookie)).toBe(401);
    const signedIn = await signIn(person.email, PASSWORD);
    expect(await signedIn.json()).toMatchObject({ user: { id: person.id } });

    const { cookie } = await enable({ ...person, cookie: cookieOf(signedIn) });
    expect(await whileItEnds("/two-factor/disable", { password: PASSWORD }, cookie)).toBe(401);
    expect(await (await signIn(person.email, PASSWORD)).json()).toMatchObject({ twoFactorRedirect: true });
    const actions = await context.test.rows("select action from audit_entry where actor_id = $1", [
      person.id,
    ]);
    expect(actions).toEqual([{ action: "user.two_factor_enabled" }]);
  });

  it("does not turn a second factor on whose set-up was replaced after its code was found right", async () => {
    const person = await context.signedUp();
    const { totpURI } = await setUp(person);
    let verifying: Promise<Response> | undefined;
    let replaced = "";
    await inTransaction(context.test.database, HOLDING_LIMITS, async (transaction) => {
      await transaction.run(LOCK_AS_REVOCATION, [person.id]);
      const body = { code: totp(totpURI) };
      verifying = context.call("/two-factor/verify-totp", body, { cookie: person.cookie });
      await waiting(1);
      replaced = (await setUp(person)).totpURI;
    });
    expect((await verifying)?.status).toBe(400);
    expect(await (await verifying)?.json()).toMatchObject({ code: "INVALID_CODE" });
    expect(await (await signIn(person.email, PASSWORD)).json()).toMatchObject({ user: { id: person.id } });
    const code = totp(replaced);
    const verified = await context.call("/two-factor/verify-totp", { code }, { cookie: person.cookie });
    expect(verified.status).toBe(200);
  });

  it("does not replace a set-up that is confirmed at the same moment", async () => {
    const person = await context.signedUp();
    const { totpURI } = await setUp(person);
    const other = { ...person, cookie: cookieOf(await signIn(person.email, PASSWORD)) };
    const code = totp(totpURI);
    const changes: Promise<Response>[] = [];
    await inTransaction(context.test.database, HOLDING_LIMITS, async (transaction) => {
      await transaction.run(LOCK_SECOND_FACTOR, [person.id]);
      changes.push(context.call("/two-factor/verify-totp", { code }, { cookie: person.cookie }));
      await waiting(1);
      changes.push(context.call("/two-factor/enable", { password: PASSWORD }, { cookie: other.cookie }));
      await waiting(2);
    });
    // What is confirmed has ended the other session.
    expect((await Promise.all(changes)).map(({ status }) => status)).toEqual([200, 401]);
    const pending = cookieOf(await signIn(person.email, PASSWORD));
    const signedIn = await context.call("/two-factor/verify-totp", { code }, { cookie: pending });
    expect(signedIn.status).toBe(200);
  });

  it("does not remove a set-up that is confirmed while another tab gives it up", async () => {
    const person = await context.signedUp();
    const { totpURI } = await setUp(person);
    const other = cookieOf(await signIn(person.email, PASSWORD));
    const code = totp(totpURI);
    // Stops what Better Auth does after the change itself.
    await context.test.rows(`create function wait_after_change() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock_shared(2); return null; end $$`);
    await context.test.rows(`create trigger after_change before update of updated_at on "user"
      for each statement execute function wait_after_change()`);
    const changes: Promise<Response>[] = [];
    await inTransaction(context.test.database, HOLDING_LIMITS, async (transaction) => {
      await transaction.run(CLOSE_AFTER_CHANGE);
      changes.push(context.call("/two-factor/disable", { password: PASSWORD }, { cookie: other }));
      await waiting(1);
      changes.push(context.call("/two-factor/verify-totp", { code }, { cookie: person.cookie }));
      await waiting(2);
    });
    await Promise.all(changes);
    await context.test.rows('drop trigger after_change on "user"');
    const pending = cookieOf(await signIn(person.email, PASSWORD));
    const signedIn = await context.call("/two-factor/verify-totp", { code }, { cookie: pending });
    expect(signedIn.status).toBe(200);
  });

  it("sets two-factor up although the set-up that it replaces is removed at the same moment", async () => {
    const person = await context.signedUp();
    await setUp(person);
    let settingUp: ReturnType<typeof setUp> | undefined;
    await inTransaction(context.test.database, HOLDING_LIMITS, async (transaction) => {
      await transaction.run(LOCK_SECOND_FACTOR, [person.id]);
      settingUp = setUp(person);
      await waiting(1);
      await transaction.commitAfter([transaction.run(REMOVE_SET_UP, [person.id])]);
    });
    const body = { code: totp((await settingUp)?.totpURI ?? "") };
    const verified = await context.call("/two-factor/verify-totp", body, { cookie: person.cookie });
    expect(verified.status).toBe(200);
  });

  it("does not turn a second factor on if its set-up was removed", async () => {
    const person = await context.signedUp();
    const { totpURI } = await setUp(person);
    let verifying: Promise<Response> | undefined;
    await inTransaction(context.test.database, HOLDING_LIMITS, async (transaction) => {
      await transaction.run(LOCK_AS_REVOCATION, [person.id]);
      const body = { code: totp(totpURI) };
      verifying = context.call("/two-factor/verify-totp", body, { cookie: person.cookie });
      await waiting(1);
      await transaction.commitAfter([transaction.run(REMOVE_SET_UP, [person.id])]);
    });
    expect((await verifying)?.status).toBe(400);
    const signedIn = await signIn(person.email, PASSWORD);
    expect(await signedIn.json()).toMatchObject({ user: { id: person.id } });
  });

  it("has neither flag nor secret when an operator turns it off while it is being turned on", async () => {
    const person = await context.signedUp();
    const { totpURI } = await setUp(person);
    // A session that turning it on ends.
    await signIn(person.email, PASSWORD);
    const changes: Promise<unknown>[] = [];
    await inTransaction(context.test.database, HOLDING_LIMITS, async (transaction) => {
      await transaction.run(LOCK_SESSIONS, [person.id]);
      const body = { code: totp(totpURI) };
      changes.push(context.call("/two-factor/verify-totp", body, { cookie: person.cookie }));
      await waiting(1);
      changes.push(
        inTransaction(context.test.database, HOLDING_LIMITS, async (disabling) => {
          await disableTwoFactor(disabling, person.id);
          await disabling.commitAfter([]);
        }),
      );
      await waiting(2);
    });
    await Promise.all(changes);
    const stored = await context.test.rows(
      `select two_factor_enabled as flag, exists (select from two_factor where user_id = u.id) as secret
       from "user" u where id = $1`,
      [person.id],
    );
    expect(stored).toEqual([{ flag: false, secret: false }]);
  });

  it("cannot sign in without a second factor once one is set up", async () => {
    const person = await context.signedUp();
    const { totpURI } = await setUp(person);
    const signingIn = signIn(person.email, PASSWORD);
    const verified = await context.call(
      "/two-factor/verify-totp",
      { code: totp(totpURI) },
      { cookie: person.cookie },
    );
    expect(verified.status).toBe(200);
    const cookie = cookieOf(await signingIn);
    expect((await context.identify({ cookie })).caller.kind).toBe("anonymous");
    expect((await context.identify({ cookie: cookieOf(verified) })).caller).toMatchObject({
      userId: person.id,
    });
    expect(await sessionsOf(person)).toBe(1);
  });
});
