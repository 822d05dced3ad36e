import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { newApiKey, parseApiKey } from "../../src/auth/callers/api-key.ts";
import { insertApiKey, listApiKeys, revokeApiKey } from "../../src/store/keys/api-keys.ts";
import { ADDRESS, accounts } from "./accounts.ts";

const REFUSED = { name: "Refusal", code: "unauthorized", message: "Unauthorized" };
const MINUTE_MS = 60_000;

describe("an API key", () => {
  const context = accounts();

  const createKeyFor = async (userId: string, expiresAt: Date | null = null) => {
    const { key, prefix, hash } = newApiKey();
    const row = await insertApiKey(context.test.database, { userId, name: "CI", prefix, hash, expiresAt });
    if (!row) throw new Error("not inserted");
    return { key, id: row.id };
  };

  const lastUsed = async (id: string) => {
    await context.auth.idle();
    const [row] = await context.test.rows<{ at: Date | null }>(
      "select last_used_at as at from api_key where id = $1",
      [id],
    );
    return row?.at?.getTime() ?? null;
  };

  it("is tg_ and 40 uniformly random alphanumeric characters", () => {
    const counts = new Map<string, number>();
    const keys = Array.from({ length: 2_000 }, () => newApiKey());
    for (const { key, prefix, hash } of keys) {
      expect(key).toMatch(/^tg_[A-Za-z0-9]{40}$/);
      expect(prefix).toBe(key.slice(0, 11));
      expect(hash).toEqual(createHash("sha256").update(key).digest());
      expect(parseApiKey(key)).toEqual({ kind: "user", prefix, hash });
      for (const letter of key.slice(3)) counts.set(letter, (counts.get(letter) ?? 0) + 1);
    }
    expect(new Set(keys.map(({ key }) => key)).size).toBe(keys.length);
    const expected = (2_000 * 40) / 62;
    const chiSquared = [...counts.values()].reduce((sum, n) => sum + (n - expected) ** 2 / expected, 0);
    // 61 degrees of freedom: above 130 once in a million.
    expect(counts.size).toBe(62);
    expect(chiSquared).toBeLessThan(130);
  });

  it("authenticates its owner, in either header, and takes precedence over a cookie", async () => {
    const owner = await context.signedUp();
    const otherUser = await context.signedUp();
    const { key, id } = await createKeyFor(owner.id);
    const expected = { kind: "api-key", userId: owner.id, role: "user", keyId: id, address: ADDRESS };
    for (const headers of [
      { authorization: `Bearer ${key}` },
      { authorization: `bearer   ${key} ` },
      { "x-api-key": key },
      { "x-api-key": ` ${key}`, authorization: `Bearer ${key}` },
      { "x-api-key": key, authorization: "Basic dXNlcjpwYXNz" },
      { authorization: `Bearer ${key}`, cookie: otherUser.cookie },
    ]) {
      expect(await context.identify(headers as Record<string, string>)).toEqual({
        caller: expected,
        setCookies: [],
      });
    }
  });

  it("returns the same 401 for every invalid key, and never falls back to the cookie", async () => {
    const owner = await context.signedUp();
    const { cookie } = owner;
    const { key } = await createKeyFor(owner.id);
    const another = await createKeyFor(owner.id);
    const expired = await createKeyFor(owner.id, new Date(Date.now() - 1_000));
    const revoked = await createKeyFor(owner.id);
    expect(await revokeApiKey(context.test.database, owner.id, revoked.id)).toBe(true);
    const swapped = key.slice(0, -1) + (key.endsWith("A") ? "B" : "A");
    const presented: Record<string, string>[] = [
      ...[
        newApiKey().key,
        swapped,
        expired.key,
        revoked.key,
        `${key}x`,
        key.slice(0, -1),
        "tg_",
        "x",
        "",
      ].flatMap((text): Record<string, string>[] => [
        { authorization: `Bearer ${text}` },
        { "x-api-key": text },
      ]),
      { authorization: "Bearer" },
      { authorization: `Bearer ${key} ${key}` },
      { authorization: key },
      { "x-api-key": `${key}, ${key}` },
      { "x-api-key": `tg_${"\0".repeat(40)}` },
      { authorization: `Bearer ${key}`, "x-api-key": another.key },
      { authorization: `Bearer ${key}`, "x-api-key": "" },
      { authorization: "Bearer x", "x-api-key": key },
    ];
    for (const headers of presented) {
      await expect(context.identify({ ...headers, cookie }), JSON.stringify(headers)).rejects.toMatchObject(
        REFUSED,
      );
    }
    expect((await context.identify({ cookie })).caller.kind).toBe("session");
    // Another Authorization scheme, such as a proxy's, is not an API key.
    expect((await context.identify({ cookie, authorization: "Basic dXNlcjpwYXNz" })).caller.kind).toBe(
      "session",
    );
  });

  it("is rejected as soon as it is revoked or expires, or its owner is banned or deleted", async () => {
    const owner = await context.signedUp();
    const expiresAt = new Date(Date.now() + MINUTE_MS);
    const { key, id } = await createKeyFor(owner.id, expiresAt);
    const identified = (now?: number) => context.identify({ "x-api-key": key }, now);
    expect((await identified(expiresAt.getTime() - 1)).caller.kind).toBe("api-key");
    await expect(identified(expiresAt.getTime())).rejects.toMatchObject(REFUSED);
    await context.test.rows(`update "user" set banned = true where id = $1`, [owner.id]);
    await expect(identified()).rejects.toMatchObject(REFUSED);
    await context.test.rows(`update "user" set banned = false, role = 'admin' where id = $1`, [owner.id]);
    expect((await identified()).caller).toMatchObject({ kind: "api-key", role: "admin" });
    expect(await revokeApiKey(context.test.database, null, id)).toBe(true);
    await expect(identified()).rejects.toMatchObject(REFUSED);

    const next = await createKeyFor(owner.id);
    await context.test.rows(`delete from "user" where id = $1`, [owner.id]);
    await expect(context.identify({ "x-api-key": next.key })).rejects.toMatchObject(REFUSED);
  });

  it("is found among keys with the same prefix", async () => {
    const owner = await context.signedUp();
    const { key, prefix, hash } = newApiKey();
    for (const own of [createHash("sha256").update("one").digest(), hash]) {
      await insertApiKey(context.test.database, {
        userId: owner.id,
        name: "x",
        prefix,
        hash: own,
        expiresAt: null,
      });
    }
    expect((await context.identify({ "x-api-key": key })).caller.kind).toBe("api-key");
  });

  it("updates its last-used time at most once a minute", async () => {
    const { id: userId } = await context.signedUp();
    const { key, id } = await createKeyFor(userId);
    expect(await lastUsed(id)).toBeNull();
    await Promise.all(Array.from({ length: 30 }, () => context.identify({ "x-api-key": key })));
    const first = await lastUsed(id);
    expect(Math.abs((first as number) - Date.now())).toBeLessThan(MINUTE_MS);
    await context.identify({ "x-api-key": key });
    expect(await lastUsed(id)).toBe(first);
    const earlier = new Date(Date.now() - 61_000);
    await context.test.rows("update api_key set last_used_at = $2 where id = $1", [id, earlier]);
    await context.identify({ "x-api-key": key });
    expect(await lastUsed(id)).toBeGreaterThan(earlier.getTime());
  });

  it("is refused beyond a hundred active keys per user", async () => {
    const { id: userId } = await context.signedUp();
    const keys = [];
    for (let n = 0; n < 100; n += 1) keys.push(await createKeyFor(userId));
    await expect(createKeyFor(userId)).rejects.toThrow("not inserted");
    await revokeApiKey(context.test.database, userId, keys[0]?.id as string);
    await createKeyFor(userId);
    await context.test.rows("update api_key set expires_at = now() - interval '1 second' where id = $1", [
      keys[1]?.id,
    ]);
    await createKeyFor(userId);
    await expect(createKeyFor("nobody")).rejects.toThrow("not inserted");

    const otherUser = await context.signedUp();
    const database = context.test.database;
    expect(await revokeApiKey(database, otherUser.id, keys[2]?.id as string)).toBe(false);
    expect(await revokeApiKey(database, userId, keys[2]?.id as string)).toBe(true);
    expect(await revokeApiKey(database, userId, keys[2]?.id as string)).toBe(false);
    expect(await listApiKeys(database, otherUser.id, { before: null, limit: 10 })).toEqual([]);

    const listed = [];
    let before: { atMicros: string; id: string } | null = null;
    for (;;) {
      const page: Awaited<ReturnType<typeof listApiKeys>> = await listApiKeys(database, userId, {
        before,
        limit: 7,
      });
      listed.push(...page);
      before = page.at(-1) ?? null;
      if (before === null) break;
    }
    // All but the two revoked ones; expired keys are still listed.
    expect(new Set(listed.map(({ id }) => id)).size).toBe(100);
    expect(listed.map(({ createdAt }) => createdAt.getTime())).toEqual(
      listed.map(({ createdAt }) => createdAt.getTime()).sort((a, b) => b - a),
    );
    expect(JSON.stringify(listed)).not.toContain("hash");
  });
});
