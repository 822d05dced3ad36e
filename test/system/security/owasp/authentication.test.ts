import { createHook } from "node:async_hooks";
import { createHash, createHmac } from "node:crypto";
import { type AddressInfo, createServer } from "node:net";
import { beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../../../support/eventually.ts";
import { createUser } from "../../../support/people.ts";
import { GENEROUS_LIMITS } from "../../../support/variables.ts";
import { securityContext } from "./security-context.ts";
import { type Answer, type Attack, responseText, send } from "./send.ts";

const SIGN_IN = "POST /api/auth/sign-in/email";
const UNAUTHORIZED = { status: 401, text: '{"error":"Unauthorized"}' };
const NEXT = "another password of some length";

/** The session cookie's parts, as they are before they are encoded. */
function partsOf(cookie: string) {
  const [name = "", value = ""] = (cookie.split("; ")[0] as string).split("=");
  const [token = "", signature = ""] = decodeURIComponent(value).split(".");
  return { name, token, signature };
}

/** Of a sign-in or a sign-up: what a browser sends back. */
function sessionOf({ fields }: Answer): string {
  return (fields["set-cookie"] ?? []).map((cookie) => cookie.split(";")[0]).join("; ");
}

const context = securityContext();

/** Each test guesses anew: wrong passwords of one account slow down further ones. */
beforeEach(async () => {
  await context.test.rows("truncate sign_in_failure, mail_recipient");
});

describe("API2:2023 Broken Authentication", () => {
  const whoIs = async (attack: Attack, request = "GET /api/users/me", url = context.url) => {
    const { status, text, body } = await send(url, request, attack);
    return status === 200 ? (body.id as string) : { status, text };
  };
  const signIn = (email: string, password: string, more: Attack = {}, url = context.url) =>
    send(url, SIGN_IN, { body: { email, password }, ...more });

  it("counts password guesses by client address, in any form", async () => {
    const url = await context.serverWith({});
    const { email, password } = context.victim;
    const disguises: Attack[] = [
      { headers: { "x-forwarded-for": "203.0.113.1" } },
      { headers: { "x-forwarded-for": "203.0.113.2, 127.0.0.1" } },
      { headers: { forwarded: "for=203.0.113.3" } },
      { headers: { "x-real-ip": "203.0.113.4", "cf-connecting-ip": "203.0.113.5" } },
      { headers: { "x-client-ip": "203.0.113.6", "true-client-ip": "203.0.113.7" } },
      { headers: { "x-forwarded-host": "203.0.113.8", "user-agent": "another" } },
      { headers: { "x-api-version": "v2" } },
      { cookie: context.attacker.cookie },
      { key: context.attacker.key },
    ];
    const paths = ["/api/auth/sign-in/email", "/api/v1/auth/sign-in/email", "/api/v2/auth/sign-in/email"];
    let n = 0;
    const guess = (disguise: Attack, who = email) => {
      n += 1;
      return send(url, `POST ${paths[n % 3]}`, { ...disguise, body: { email: who, password: `guess ${n}` } });
    };
    const statuses: number[] = [];
    for (const disguise of disguises) statuses.push((await guess(disguise)).status);
    statuses.push((await guess({}, "somebody.else@example.com")).status);
    expect(statuses).toEqual(Array(10).fill(401));
    for (const disguise of disguises) {
      const refused = await guess(disguise, `${n}@example.com`);
      expect(refused).toMatchObject({
        status: 429,
        body: { error: "Too many requests. Please wait a moment.", code: "TOO_MANY_REQUESTS" },
      });
      expect(Number(refused.fields["retry-after"])).toBeGreaterThan(0);
    }
    // A similar path returns 404, and is no way to go on guessing.
    for (const path of ["/api/auth//sign-in/email", "/api/auth/sign-in/email/", "/api/auth/sign-in%2femail"])
      expect((await send(url, `POST ${path}`, { body: { email, password } })).status).toBe(404);
    expect(
      (await send(url, `POST /api/auth/sign-in/%65mail`, { body: { email, password } })).status,
    ).not.toBe(200);
    // The right password is refused too once the guesses are used up.
    expect((await signIn(email, password, {}, url)).status).toBe(429);
  });

  it("counts them by the address that a trusted proxy has seen", async () => {
    const url = await context.serverWith({ TRUSTED_PROXIES: "1", RATE_LIMIT_AUTH_SIGN_IN: "3/60" });
    const guess = async (forwardedFor: string) =>
      (await signIn(context.victim.email, "a guess", { headers: { "x-forwarded-for": forwardedFor } }, url))
        .status;
    expect(await guess("198.51.100.1, 203.0.113.9")).toBe(401);
    expect(await guess("198.51.100.2, 203.0.113.9")).toBe(401);
    expect(await guess("::ffff:203.0.113.9")).toBe(401);
    expect(await guess("203.0.113.10, 203.0.113.9:443")).toBe(429);
    expect(await guess("203.0.113.9, 203.0.113.10")).toBe(401);
    // A household has a whole /64 of these.
    for (const host of ["1", "2", "ffff:1:2:3"])
      expect(await guess(`2001:db8:0:1::${host.slice(0, 4)}`)).toBe(401);
    expect(await guess("2001:db8:0:1:aaaa::1")).toBe(429);
    expect(await guess("2001:db8:0:2::1")).toBe(401);
  });

  it("answers a wrong password and an unknown address alike", async () => {
    const work = async (email: string) => {
      let hashed = 0;
      const hook = createHook({
        init: (_, type) => {
          if (type === "SCRYPTREQUEST") hashed += 1;
        },
      }).enable();
      const answer = await signIn(email, "not the password");
      hook.disable();
      return { ...responseText(answer), hashed };
    };
    const known = await work(context.victim.email);
    const unknown = await work("unknown@example.com");
    expect(known).toMatchObject({ status: 401, hashed: 1 });
    expect(allButLimits(unknown)).toEqual(allButLimits(known));
    // Without a password, like an account that the operator created.
    expect(allButLimits(await work("user_0@example.com"))).toEqual(allButLimits(known));
  });

  it("answers a known address before its mail is delivered, as it does an unknown one", async () => {
    // A silent mail server: a request that waited for it would be answered only after its timeout.
    let connections = 0;
    let isGivenUp = false;
    const smtp = createServer((socket) => {
      connections += 1;
      socket.on("error", () => {});
      socket.on("close", () => {
        isGivenUp = true;
      });
    });
    await new Promise<void>((listens) => smtp.listen(0, "127.0.0.1", listens));
    const { port } = smtp.address() as AddressInfo;
    const url = await context.serverWith({ ...GENEROUS_LIMITS, SMTP_URL: `smtp://127.0.0.1:${port}` });
    for (const email of ["unknown@example.com", context.victim.email]) {
      const answer = await send(url, "POST /api/auth/request-password-reset", { body: { email } });
      expect([answer.status, isGivenUp]).toEqual([200, false]);
    }
    await eventually(async () => connections, 1);
    smtp.close();
  });

  it("does not reveal accounts by password reset or confirmed sign-up", async () => {
    const url = await context.serverWith({
      ...GENEROUS_LIMITS,
      REQUIRE_EMAIL_CONFIRMATION: "on",
      SMTP_URL: "smtp://127.0.0.1:9",
    });
    const reset = (email: string) => send(url, "POST /api/auth/request-password-reset", { body: { email } });
    expect(allButLimits(responseText(await reset("unknown@example.com")))).toEqual(
      allButLimits(responseText(await reset(context.victim.email))),
    );
    const signUp = async (email: string) => {
      const body = { email, password: NEXT, name: "Somebody" };
      const response = await send(url, "POST /api/auth/sign-up/email", { body });
      const { id, email: echoed, createdAt, updatedAt, ...user } = response.body.user;
      expect([echoed, typeof id, typeof createdAt, typeof updatedAt]).toEqual([
        email,
        ...Array(3).fill("string"),
      ]);
      expect(response.fields["set-cookie"]).toBeUndefined();
      return {
        status: response.status,
        names: Object.keys(response.body.user),
        token: response.body.token,
        user,
      };
    };
    expect(await signUp(context.victim.email)).toEqual(await signUp("not.yet@example.com"));
    // Sign-up starts no session, and the right password is refused before the address is confirmed.
    expect((await signIn("not.yet@example.com", NEXT, {}, url)).status).toBe(403);
    expect((await signIn(context.victim.email, NEXT, {}, url)).status).toBe(401);
  });

  it("rejects a modified cookie", async () => {
    const { name, token, signature } = partsOf(context.victim.cookie);
    const attackersParts = partsOf(context.attacker.cookie);
    const [session] = await context.test.rows<{ id: string }>("select id from session where token = $1", [
      token,
    ]);
    const whole = (value: string, as = name) => `${as}=${encodeURIComponent(value)}`;
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const signedWith = (secret: string) => createHmac("sha256", secret).update(token).digest("base64");
    const swapped = (at: number) =>
      signature.slice(0, at) + (signature[at] === "A" ? "B" : "A") + signature.slice(at + 1);
    const cached = {
      session: {
        session: { userId: context.victim.id, token },
        user: { id: context.victim.id, role: "admin" },
      },
    };
    const forged = [
      whole(token),
      whole(`${token}.`),
      whole(`${token}.${signature.slice(0, -1)}`),
      whole(`${token}.${signature}=`),
      whole(`${token}.${swapped(0)}`),
      whole(`${token}.${swapped(20)}`),
      whole(`${token}.${attackersParts.signature}`),
      whole(`${attackersParts.token}.${signature}`),
      whole(`${token}.${attackersParts.token}.${attackersParts.signature}`),
      whole(`${token}.${signedWith("")}`),
      whole(`${token}.${signedWith("secret")}`),
      whole(`${token}.${signedWith("better-auth-secret-12345678901234567890")}`),
      whole(`${token}.${createHash("sha256").update(token).digest("base64")}`),
      whole(`${session?.id}.${signature}`),
      whole(`${context.victim.id}.${signature}`),
      whole(`${part({ alg: "none" })}.${part({ sub: context.victim.id })}.`),
      whole(JSON.stringify({ userId: context.victim.id })),
      whole("' or ''='"),
      whole("*"),
      whole("%"),
      `${name}=`,
      `${name}`,
      whole(`${token}.${signature}`, "session"),
      whole(`${token}.${signature}`, "session_token"),
      whole(`${token}.${signature}`, name.toUpperCase()),
      whole(`${token}.${signature}`, `__Host-${name}`),
      // Better Auth's own cache of sessions in a cookie, which is off.
      whole(part({ ...cached, expiresAt: Date.now() + 1e6, signature }), "better-auth.session_data"),
      `${whole(token)}; ${whole(part(cached), "better-auth.session_data")}`,
    ];
    for (const cookie of forged) {
      expect([cookie, await whoIs({ cookie })]).toEqual([cookie, UNAUTHORIZED]);
      const sessionResponse = await send(context.url, "GET /api/auth/get-session", { cookie });
      expect([cookie, sessionResponse.status, sessionResponse.text]).toEqual([cookie, 200, "null"]);
    }
    expect(await whoIs({ cookie: whole(`${token}.${signature}`) })).toBe(context.victim.id);
  });

  it("rejects credentials in URLs, bodies and other headers", async () => {
    const { cookie, key, email, password } = context.victim;
    const { name, token, signature } = partsOf(cookie);
    const signedToken = encodeURIComponent(`${token}.${signature}`);
    const queries = [
      "api_key",
      "apikey",
      "api-key",
      "x-api-key",
      "key",
      "token",
      "access_token",
      "authorization",
    ];
    for (const query of queries)
      expect(await whoIs({}, `GET /api/users/me?${query}=${key}`)).toEqual(UNAUTHORIZED);
    for (const query of [name, "session", "session_token", "token", "cookie"])
      expect(await whoIs({}, `GET /api/users/me?${query}=${signedToken}`)).toEqual(UNAUTHORIZED);
    for (const headers of [
      { authorization: `Bearer ${token}` },
      { authorization: `Bearer ${token}.${signature}` },
      { authorization: `Basic ${Buffer.from(`${email}:${password}`).toString("base64")}` },
      { authorization: `Basic ${Buffer.from(`${key}:`).toString("base64")}` },
      { authorization: key },
      { "x-session-token": token },
      { "x-auth-token": key },
      { "set-cookie": cookie },
    ] as Record<string, string>[])
      expect(await whoIs({ headers })).toEqual(UNAUTHORIZED);
    for (const forged of [`api_key=${key}`, `x-api-key=${key}`, `authorization=Bearer ${key}`])
      expect(await whoIs({ cookie: forged })).toEqual(UNAUTHORIZED);
    expect(await whoIs({ body: { apiKey: key, token } })).toEqual(UNAUTHORIZED);
  });

  it("never adopts a session chosen by an attacker", async () => {
    const { email, password, id } = context.victim;
    const planted = partsOf(context.attacker.cookie);
    for (const cookie of [
      context.attacker.cookie,
      `${planted.name}=chosen`,
      `${planted.name}=${encodeURIComponent(`chosen.${planted.signature}`)}`,
    ]) {
      const body = { email, password, token: planted.token, sessionToken: planted.token };
      const response = await send(context.url, `${SIGN_IN}?token=${planted.token}`, { cookie, body });
      expect(response.status).toBe(200);
      const parts = partsOf(sessionOf(response));
      expect([planted.token, "chosen"]).not.toContain(parts.token);
      expect(await whoIs({ cookie: sessionOf(response) })).toBe(id);
      expect(await whoIs({ cookie })).not.toBe(id);
    }
    expect(await whoIs({ cookie: context.attacker.cookie })).toBe(context.attacker.id);
  });

  it("ends the session on sign-out", async () => {
    const person = await createUser(context.test);
    const elsewhere = sessionOf(await signIn(person.email, person.password));
    expect((await send(context.url, "POST /api/auth/sign-out", { cookie: person.cookie })).status).toBe(200);
    expect(await whoIs({ cookie: person.cookie })).toEqual(UNAUTHORIZED);
    expect(await whoIs({ cookie: elsewhere })).toBe(person.id);
  });

  it("requires the old password for a new one, and ends other sessions", async () => {
    const { id, email, password, cookie } = await createUser(context.test);
    const stolen = sessionOf(await signIn(email, password));
    const change = (currentPassword: unknown, as: Attack) =>
      send(context.url, "POST /api/auth/change-password", {
        ...as,
        body: { currentPassword, newPassword: NEXT, revokeOtherSessions: false },
      });
    for (const guess of ["a guess", "", null, { $ne: "" }, [password]])
      expect((await change(guess, { cookie: stolen })).status).toBe(400);
    expect((await change(password, { key: context.victim.key })).status).toBe(401);
    const changed = await change(password, { cookie });
    expect(changed.status).toBe(200);
    expect(await whoIs({ cookie: stolen })).toEqual(UNAUTHORIZED);
    expect(await whoIs({ cookie: sessionOf(changed) })).toBe(id);
    expect((await signIn(email, password)).status).toBe(401);
    expect((await signIn(email, NEXT)).status).toBe(200);
  });

  it("accepts a reset token once, and ends every session", async () => {
    const { email, password, cookie } = await createUser(context.test);
    const before = (await context.mails()).length;
    await send(context.url, "POST /api/auth/request-password-reset", { body: { email } });
    await eventually(async () => (await context.mails()).length, before + 1);
    const mail = (await context.mails()).at(-1) as string;
    const token = /\/reset-password\/([A-Za-z0-9_-]+)/.exec(mail)?.[1] as string;
    const reset = (token: unknown) =>
      send(context.url, "POST /api/auth/reset-password", {
        body: { token: token, newPassword: NEXT, email },
      });
    const storedRows = await context.test.rows<{ identifier: string; value: string }>(
      "select identifier, value from verification",
    );
    const guesses = [
      token.slice(0, -1),
      token.toLowerCase(),
      `${token}%00`,
      "",
      "*",
      null,
      { $gt: "" },
      [token],
    ];
    for (const guess of [...guesses, ...storedRows.flatMap((row) => [row.identifier, row.value])])
      expect((await reset(guess)).status).toBe(400);
    expect(await whoIs({ cookie })).not.toEqual(UNAUTHORIZED);
    expect((await reset(token)).status).toBe(200);
    expect(await whoIs({ cookie })).toEqual(UNAUTHORIZED);
    expect((await signIn(email, password)).status).toBe(401);
    expect((await reset(token)).status).toBe(400);
  });

  it("rejects banned, deleted and expired callers from the next request on", async () => {
    const person = await createUser(context.test);
    const created = await send(context.url, "POST /api/api-keys", {
      cookie: person.cookie,
      body: { name: "mine" },
    });
    const both = async () => [await whoIs({ cookie: person.cookie }), await whoIs({ key: created.body.key })];
    expect(await both()).toEqual([person.id, person.id]);
    await context.test.rows(`update "user" set banned = true where id = $1`, [person.id]);
    expect(await both()).toEqual([UNAUTHORIZED, UNAUTHORIZED]);
    await context.test.rows(`update "user" set banned = false where id = $1`, [person.id]);
    const past = "now() - interval '1 second'";
    await context.test.rows(`update session set expires_at = ${past} where user_id = $1`, [person.id]);
    await context.test.rows(`update api_key set expires_at = ${past} where user_id = $1`, [person.id]);
    expect(await both()).toEqual([UNAUTHORIZED, UNAUTHORIZED]);
    const newSession = sessionOf(await signIn(person.email, person.password));
    await context.test.rows(`delete from "user" where id = $1`, [person.id]);
    expect(await whoIs({ cookie: newSession })).toEqual(UNAUTHORIZED);
  });

  it("rejects every invalid key with the same words", async () => {
    const { cookie } = await createUser(context.test);
    const newKey = async () =>
      (await send(context.url, "POST /api/api-keys", { cookie, body: { name: "a key" } })).body as {
        id: string;
        key: string;
        prefix: string;
      };
    const [good, expired, revoked] = [await newKey(), await newKey(), await newKey()];
    await context.test.rows("update api_key set expires_at = now() where id = $1", [expired.id]);
    await send(context.url, `DELETE /api/api-keys/${revoked.id}`, { cookie });
    const [kept] = await context.test.rows<{ hash: Buffer }>("select hash from api_key where id = $1", [
      good.id,
    ]);
    const responses = await Promise.all(
      [
        expired.key,
        revoked.key,
        `tg_${"A".repeat(40)}`,
        good.prefix + "A".repeat(32),
        good.prefix,
        good.id,
        good.key.slice(0, -1),
        `${good.key}A`,
        good.key.toUpperCase(),
        good.key.slice(3),
        (kept as { hash: Buffer }).hash.toString("hex"),
        "tg_%",
        "tg_' or ''='",
        "",
      ].map((key) => send(context.url, "GET /api/users/me", { key })),
    );
    for (const answer of responses)
      expect(allButLimits(responseText(answer))).toEqual(allButLimits(responseText(responses[0] as Answer)));
    expect(responses[0]).toMatchObject(UNAUTHORIZED);
    expect(responses[0]?.fields["www-authenticate"]).toBeDefined();
    expect(await whoIs({ key: good.key })).not.toEqual(UNAUTHORIZED);
  });

  it("rejects an invalid key despite a cookie or a second key", async () => {
    const { cookie, key, id } = context.victim;
    expect(await whoIs({ cookie, key: "tg_no" })).toEqual(UNAUTHORIZED);
    expect(await whoIs({ cookie, headers: { "x-api-key": "" } })).toEqual(UNAUTHORIZED);
    expect(await whoIs({ key, headers: { "x-api-key": context.attacker.key } })).toEqual(UNAUTHORIZED);
    expect(await whoIs({ headers: { "x-api-key": [key, context.attacker.key] } })).toEqual(UNAUTHORIZED);
    expect(await whoIs({ headers: { "x-api-key": key } })).toBe(id);
  });

  it("rejects passwords that are too short or too long", async () => {
    for (const password of [
      "",
      "1234567",
      "x".repeat(129),
      "x".repeat(60_000),
      null,
      12345678,
      ["12345678"],
    ]) {
      const body = { name: "Somebody", email: `p-${Math.random()}@example.com`, password };
      expect((await send(context.url, "POST /api/auth/sign-up/email", { body })).status).toBe(400);
    }
    expect((await signIn(context.victim.email, "x".repeat(60_000))).status).toBe(400);
  });
});

function allButLimits<Told extends ReturnType<typeof responseText>>({ headers, ...answer }: Told) {
  const { "x-ratelimit-remaining": _, ratelimit: __, ...rest } = headers;
  return { ...answer, headers: rest };
}
