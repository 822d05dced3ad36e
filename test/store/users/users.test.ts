import { beforeEach, describe, expect, it } from "vitest";
import { setRole } from "../../../src/store/users/set-role.ts";
import { findUser, findUserByEmail, listUsers, updateProfile } from "../../../src/store/users/users.ts";
import { addUsers } from "../../support/database.ts";
import { testDatabase } from "../../support/test-database.ts";

const test = testDatabase(0);
beforeEach(async () => {
  await test.rows(`delete from "user"`);
  await addUsers(test, 6);
});

const administrators = async () =>
  (await test.rows<{ id: string }>(`select id from "user" where role = 'admin' order by id`)).map(
    ({ id }) => id,
  );

describe("roles", () => {
  it("change, and report unchanged and unknown users", async () => {
    expect(await setRole(test.database, "user_1", "admin")).toBe("changed");
    expect(await setRole(test.database, "user_1", "admin")).toBe("unchanged");
    expect(await setRole(test.database, "user_2", "user")).toBe("unchanged");
    expect(await setRole(test.database, "nobody", "admin")).toBe("unknown");
    expect(await setRole(test.database, "user_3", "admin")).toBe("changed");
    expect(await setRole(test.database, "user_1", "user")).toBe("changed");
    expect(await administrators()).toEqual(["user_3"]);
  });

  it("keep one administrator who is not banned", async () => {
    await setRole(test.database, "user_1", "admin");
    expect(await setRole(test.database, "user_1", "user")).toBe("last_administrator");
    await setRole(test.database, "user_2", "admin");
    await test.rows(`update "user" set banned = true where id = 'user_2'`);
    expect(await setRole(test.database, "user_1", "user")).toBe("last_administrator");
    expect(await setRole(test.database, "user_2", "user")).toBe("changed");
    expect(await administrators()).toEqual(["user_1"]);
  });

  it("change once when several requests arrive at the same time", async () => {
    for (let round = 0; round < 20; round += 1) {
      for (const id of ["user_0", "user_1"]) await setRole(test.database, id, "admin");
      const outcomes = await Promise.all([1, 2, 3].map(() => setRole(test.database, "user_1", "user")));
      expect(outcomes.sort()).toEqual(["changed", "unchanged", "unchanged"]);
    }
  });

  it("keep one administrator when all are demoted at the same time", async () => {
    for (let round = 0; round < 40; round += 1) {
      const ids = ["user_0", "user_1", "user_2", "user_3"].slice(0, 2 + (round % 3));
      await test.rows(`update "user" set role = 'user'`);
      for (const id of ids) await setRole(test.database, id, "admin");
      const outcomes = await Promise.all(
        (round % 2 ? ids : ids.toReversed()).map((id) => setRole(test.database, id, "user")),
      );
      expect(outcomes.filter((outcome) => outcome === "last_administrator")).toHaveLength(1);
      expect(await administrators()).toHaveLength(1);
    }
  });
});

describe("users", () => {
  it("are listed in pages, oldest first, also with equal times", async () => {
    await test.rows(`update "user" set created_at = '2026-01-01' where id in ('user_0', 'user_3', 'user_4')`);
    await test.rows(
      `update "user" set created_at = timestamptz '2026-01-02' + interval '1 microsecond' where id = 'user_1'`,
    );
    await test.rows(`update "user" set created_at = '2026-01-02' where id = 'user_5'`);
    const ids: string[] = [];
    let after: { atMicros: string; id: string } | null = null;
    for (;;) {
      const page: Awaited<ReturnType<typeof listUsers>> = await listUsers(test.database, {
        id: null,
        after,
        limit: 2,
      });
      if (page.length === 0) break;
      ids.push(...page.map(({ id }) => id));
      after = page.at(-1) ?? null;
      // Deleting a user meanwhile does not end the list early.
      if (ids.length === 2) await test.rows(`delete from "user" where id = 'user_3'`);
    }
    expect(ids).toEqual(["user_0", "user_3", "user_4", "user_5", "user_1", "user_2"]);
    const single = await listUsers(test.database, { id: "user_4", after: null, limit: 10 });
    expect(single.map(({ id }) => id)).toEqual(["user_4"]);
    expect(await listUsers(test.database, { id: "user_4", after: single[0] ?? null, limit: 10 })).toEqual([]);
  });

  it("are found by id and by email address in any case", async () => {
    expect(await findUser(test.database, "user_2")).toMatchObject({
      email: "user_2@example.com",
      emailVerified: false,
      role: "user",
      locale: "en",
      preferences: { theme: "system", emailNotifications: true },
      onboarded: false,
    });
    expect((await findUserByEmail(test.database, "User_2@Example.com"))?.id).toBe("user_2");
    expect(await findUser(test.database, "nobody")).toBeNull();
    expect(await findUserByEmail(test.database, "nobody@example.com")).toBeNull();
  });

  it("change only the fields of the profile that are passed", async () => {
    // Times are in milliseconds, and both can happen within one.
    await test.rows(`update "user" set updated_at = updated_at - interval '1 second' where id = 'user_1'`);
    const before = await findUser(test.database, "user_1");
    const renamed = await updateProfile(test.database, "user_1", { name: "Ada", locale: undefined });
    expect(renamed).toEqual({ ...before, name: "Ada", updatedAt: expect.any(Date) });
    expect(renamed?.updatedAt.getTime()).toBeGreaterThan(before?.updatedAt.getTime() as number);
    const changed = await updateProfile(test.database, "user_1", {
      locale: "de",
      preferences: { theme: "dark", emailNotifications: undefined },
    });
    expect(changed).toMatchObject({
      name: "Ada",
      locale: "de",
      preferences: { theme: "dark", emailNotifications: true },
    });
    expect(await updateProfile(test.database, "nobody", { name: "X" })).toBeNull();
    expect((await findUser(test.database, "user_2"))?.name).toBe("User 2");
  });
});
