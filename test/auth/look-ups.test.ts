import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { type Accounts, type AccountsOptions, accounts, SECRET } from "./accounts.ts";

const WEEK_MS = 7 * 24 * 60 * 60 * 1000;

type Parts = { name: string; token: string; signature: string };

/** The session by our look-up and by Better Auth's; ours first, as theirs deletes expired sessions. */
async function sessionIds(
  on: Accounts,
  cookie: string,
): Promise<{ ours: string | null; theirs: string | null }> {
  const { caller } = await on.identify({ cookie });
  return { ours: caller.kind === "session" ? caller.sessionId : null, theirs: await on.theirs(cookie) };
}

function parts(cookie: string): Parts {
  const [name = "", value = ""] = (cookie.split("; ")[0] as string).split("=");
  const [token = "", signature = ""] = decodeURIComponent(value).split(".");
  return { name, token, signature };
}

function joined({ name, token, signature }: Parts): string {
  return `${name}=${encodeURIComponent(`${token}.${signature}`)}`;
}

function signed(text: string, secret = SECRET): string {
  return createHmac("sha256", secret).update(text).digest("base64");
}

function swapped(text: string, at: number): string {
  return text.slice(0, at) + (text[at] === "A" ? "B" : "A") + text.slice(at + 1);
}

const MODES: [string, AccountsOptions][] = [
  ["http", { appUrl: "http://localhost:3000" }],
  ["https", { appUrl: "https://app.example.com" }],
];

describe.each(MODES)("over %s, our session query and Better Auth's", (protocol, options) => {
  const context = accounts(options);

  const sessionOf = async (cookie: string) =>
    (
      await context.test.rows<{ id: string }>("select id from session where token = $1", [
        parts(cookie).token,
      ])
    )[0]?.id;

  it("agree on a valid cookie, named for the protocol", async () => {
    const { cookie } = await context.signedUp();
    expect(parts(cookie).name).toBe(`${protocol === "https" ? "__Host-" : ""}better-auth.session_token`);
    const id = await sessionOf(cookie);
    expect(id).toBeDefined();
    expect(await sessionIds(context, cookie)).toEqual({ ours: id, theirs: id });
  });

  it("agree on every valid form of a cookie", async () => {
    const { cookie } = await context.signedUp();
    const valid = parts(cookie);
    const { name, token, signature } = valid;
    const id = await sessionOf(cookie);
    // The last character of a signature has two unused bits.
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const twin = alphabet[alphabet.indexOf(signature[42] as string) ^ 1];
    for (const cookies of [
      `${name}=${token}.${signature}`,
      `theme=dark; ${joined(valid)}; other=1`,
      `;;  ${joined(valid)}  ;`,
      `flag; ${joined(valid)}`,
      `${name}="${encodeURIComponent(`${token}.${signature}`)}"`,
      ` ${name} = ${encodeURIComponent(`${token}.${signature}`)} `,
      joined({ ...valid, signature: `${signature.slice(0, 42)}${twin}=` }),
      `${joined(valid)}; ${joined({ ...valid, signature: swapped(signature, 3) })}`,
      `${joined(valid)}; ${name}=`,
      `x${joined(valid)}; ${joined(valid)}`,
    ]) {
      expect({ cookies, ...(await sessionIds(context, cookies)) }).toEqual({
        cookies,
        ours: id,
        theirs: id,
      });
    }
  });

  it("agree on invalid cookies", async () => {
    const { cookie } = await context.signedUp();
    const valid = parts(cookie);
    const { name, token, signature } = valid;
    const otherName = name.startsWith("__Host-") ? name.slice(7) : `__Host-${name}`;
    for (const refused of [
      "",
      "=",
      name,
      `${name}=`,
      `${name}=%`,
      `${name}=${token}`,
      `${name}=.${signature}`,
      `${name}=${token}.`,
      `${name}=%E0%A4%A.${signature}`,
      joined({ ...valid, signature: swapped(signature, 0) }),
      joined({ ...valid, signature: swapped(signature, 41) }),
      joined({ ...valid, signature: signature.slice(0, -1) }),
      joined({ ...valid, signature: signature.slice(0, 20) }),
      joined({ ...valid, signature: `${signature}=` }),
      joined({ ...valid, signature: ` ${signature.slice(0, 42)}=` }),
      joined({ ...valid, token: swapped(token, 0) }),
      joined({ ...valid, token: token.slice(1) }),
      joined({ ...valid, token: `${token}.` }),
      joined({ ...valid, token: "nobody", signature: signed("nobody") }),
      joined({ ...valid, signature: signed(token, "another-secret-that-is-just-as-long-as-ours") }),
      joined({ ...valid, name: otherName }),
      joined({ ...valid, name: name.toUpperCase() }),
      `${joined({ ...valid, signature: swapped(signature, 3) })}; ${joined(valid)}`,
      `${name}=; ${joined(valid)}`,
      `${name}=${signature}.${token}`,
    ]) {
      expect({ refused, ...(await sessionIds(context, refused)) }).toEqual({
        refused,
        ours: null,
        theirs: null,
      });
    }
  });

  it("agree on which of two cookies counts", async () => {
    const user = await context.signedUp();
    const two = await context.signedUp();
    const [first, second] = [await sessionOf(user.cookie), await sessionOf(two.cookie)];
    expect(await sessionIds(context, `${user.cookie}; ${two.cookie}`)).toEqual({
      ours: first,
      theirs: first,
    });
    expect(await sessionIds(context, `${two.cookie}; ${user.cookie}`)).toEqual({
      ours: second,
      theirs: second,
    });
  });

  it("agree on an expired and on a revoked session", async () => {
    const { cookie } = await context.signedUp();
    const { token } = parts(cookie);
    await context.test.rows("update session set expires_at = now() - interval '1 second' where token = $1", [
      token,
    ]);
    expect(await sessionIds(context, cookie)).toEqual({ ours: null, theirs: null });

    const otherUser = await context.signedUp();
    expect((await sessionIds(context, otherUser.cookie)).ours).not.toBeNull();
    expect((await context.call("/sign-out", {}, { cookie: otherUser.cookie })).status).toBe(200);
    expect(await sessionIds(context, otherUser.cookie)).toEqual({ ours: null, theirs: null });
  });

  it("agree on a session due for a refresh, one not to be remembered, and one with a forged remember-me cookie", async () => {
    for (const [rememberMe, forged] of [
      [true, false],
      [false, false],
      [false, true],
    ] as const) {
      const { cookie } = await context.signedUp({ rememberMe });
      expect(/dont_remember/.test(cookie)).toBe(!rememberMe);
      const sent = forged ? cookie.replace(/(dont_remember=true\.)./, "$1_") : cookie;
      const expiresAt = Date.now() + WEEK_MS / 2;
      await context.test.rows("update session set expires_at = $2 where token = $1", [
        parts(cookie).token,
        new Date(expiresAt),
      ]);
      const id = await sessionOf(cookie);
      const { caller, setCookies } = await context.identify({ cookie: sent });
      expect(caller).toMatchObject({ kind: "session", sessionId: id });
      const [row] = await context.test.rows<{ expires_at: Date }>(
        "select expires_at from session where token = $1",
        [parts(cookie).token],
      );
      if (rememberMe || forged) {
        expect(setCookies[0]).toMatch(/Max-Age=604800/);
        expect(row?.expires_at.getTime()).toBeGreaterThan(expiresAt);
      } else {
        expect(setCookies).toEqual([]);
        expect(row?.expires_at.getTime()).toBe(expiresAt);
      }
      expect(await context.theirs(sent)).toBe(id);
    }
  });
});

describe("a session", () => {
  const context = accounts();

  const aged = (cookie: string, bySeconds: number) =>
    context.test.rows(
      "update session set expires_at = expires_at - $2::int * interval '1 second' where token = $1",
      [parts(cookie).token, bySeconds],
    );

  it("extends the session of an active user, by one refresh a day", async () => {
    const day = 24 * 60 * 60;
    let { cookie } = await context.signedUp();
    let refreshes = 0;
    // Used three times a day for three weeks: the row is aged instead of the clock.
    for (let use = 0; use < 63; use += 1) {
      await aged(cookie, day / 3);
      const { caller, setCookies } = await context.identify({ cookie });
      expect(caller.kind).toBe("session");
      if (setCookies.length === 0) continue;
      refreshes += 1;
      cookie = (setCookies[0] as string).split(";")[0] as string;
    }
    expect(refreshes).toBe(21);
  });

  it("ends the session of an inactive user after a week", async () => {
    const { cookie } = await context.signedUp();
    expect((await context.identify({ cookie }, Date.now() + WEEK_MS - 60_000)).caller.kind).toBe("session");
    expect((await context.identify({ cookie }, Date.now() + WEEK_MS + 60_000)).caller.kind).toBe("anonymous");
    await aged(cookie, WEEK_MS / 1000 + 60);
    expect(await context.identify({ cookie })).toEqual({
      caller: { kind: "anonymous", address: "192.0.2.7" },
      setCookies: [],
    });
  });

  it("refreshed by simultaneous requests stays one session", async () => {
    const { cookie } = await context.signedUp();
    await aged(cookie, 3 * 24 * 60 * 60);
    const all = await Promise.all(Array.from({ length: 20 }, () => context.identify({ cookie })));
    expect(all.every(({ caller }) => caller.kind === "session")).toBe(true);
    expect(await sessionIds(context, cookie)).toMatchObject({ ours: expect.any(String) });
  });

  it("is not confused with others that are read in the same query", async () => {
    const people = await Promise.all(Array.from({ length: 12 }, () => context.signedUp()));
    const lookUps = Array.from(
      { length: 240 },
      (_, n) => people[(n * 7) % people.length] as (typeof people)[0],
    );
    const results = await Promise.all(
      lookUps.map(({ cookie }, n) => context.identify({ cookie: n % 5 === 0 ? `${cookie}x` : cookie })),
    );
    results.forEach(({ caller }, n) => {
      if (n % 5 === 0) expect(caller.kind).toBe("anonymous");
      else expect(caller).toMatchObject({ kind: "session", userId: lookUps[n]?.id });
    });
  });

  it("reflects a role change, a ban and a deletion from the next request on", async () => {
    const { id, cookie } = await context.signedUp();
    const caller = async () => (await context.identify({ cookie })).caller;
    expect(await caller()).toMatchObject({ kind: "session", role: "user" });
    await context.test.rows(`update "user" set role = 'admin' where id = $1`, [id]);
    expect(await caller()).toMatchObject({ kind: "session", role: "admin" });
    await context.test.rows(`update "user" set banned = true where id = $1`, [id]);
    expect(await caller()).toMatchObject({ kind: "anonymous" });
    await context.test.rows(`update "user" set ban_expires = now() + interval '1 hour' where id = $1`, [id]);
    expect(await caller()).toMatchObject({ kind: "anonymous" });
    await context.test.rows(`update "user" set ban_expires = now() - interval '1 second' where id = $1`, [
      id,
    ]);
    expect(await caller()).toMatchObject({ kind: "session" });
    await context.test.rows(`delete from "user" where id = $1`, [id]);
    expect(await caller()).toMatchObject({ kind: "anonymous" });
    expect(await context.test.rows("select id from session where user_id = $1", [id])).toEqual([]);
  });

  it("is deleted once it has expired, not before", async () => {
    await context.auth.deleteExpired();
    const staying = await context.signedUp();
    const { cookie } = await context.signedUp();
    await aged(cookie, WEEK_MS / 1000 + 1);
    expect(await context.auth.deleteExpired()).toBe(1);
    expect((await context.identify({ cookie: staying.cookie })).caller.kind).toBe("session");
  });
});
