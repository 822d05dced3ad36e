import { describe, expect, it } from "vitest";
import { newApiKey } from "../../src/auth/callers/api-key.ts";
import { createApiKey } from "../../src/operations/api-keys/create-api-key.ts";
import { notifyExpiringKeys } from "../../src/store/keys/expiring-keys.ts";
import { testDatabase } from "../support/test-database.ts";
import { runningSession } from "./running-session.ts";
import { createTestContext, refusalOf, session } from "./test-context.ts";

describe("an API key", () => {
  const test = testDatabase(2);
  const context = createTestContext(test, { newApiKey });

  const daysLeft = async (input: object) => {
    const { id } = await context.call(createApiKey, await runningSession(test, "user_0"), {
      name: "Key",
      ...input,
    });
    const [row] = await test.rows<{ days: number | null }>(
      "select round(extract(epoch from expires_at - now()) / 86400)::int as days from api_key where id = $1",
      [id],
    );
    return row?.days;
  };

  it("expires after a year by default, at the given time, or never for null", async () => {
    expect([365, 366]).toContain(await daysLeft({}));
    const inTenDays = new Date(Date.now() + 10 * 86_400_000).toISOString();
    expect(await daysLeft({ expiresAt: inTenDays })).toBe(10);
    expect(await daysLeft({ expiresAt: null })).toBeNull();
  });

  it("rejects an expiry after the year 9999, which RFC 3339 lacks", async () => {
    for (const expiresAt of ["9999-12-31T23:59:59-23:00", "9999-12-31T23:00:00-01:00"]) {
      expect(
        await refusalOf(context.call(createApiKey, session("user_0"), { name: "Key", expiresAt })),
      ).toMatchObject({ code: "invalid_input" });
    }
  });

  it("notifies its owner once, two weeks before it expires", async () => {
    await test.rows("delete from api_key");
    await test.rows(
      `insert into api_key (id, user_id, name, prefix, hash, created_at, expires_at, revoked_at)
       select gen_random_uuid(), 'user_1', name, 'tg_' || name, sha256(name::bytea),
         now() - age * interval '1 day', now() + left_days * interval '1 day', case when revoked then now() end
       from (values ('soon', 352, 13, false), ('later', 340, 15, false), ('short', 1, 5, false),
         ('revoked', 352, 13, true), ('expired', 366, -1, false)) k (name, age, left_days, revoked)`,
    );
    const notify = () => notifyExpiringKeys(test.database, { withinDays: 14, limit: 100 });
    expect(await notify()).toBe(1);
    expect(await notify()).toBe(0);
    expect(
      await test.rows("select kind, details->>'name' as name from notification where user_id = 'user_1'"),
    ).toEqual([{ kind: "api_key_expiring", name: "soon" }]);
  });
});
