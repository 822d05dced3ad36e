import { createHash, randomBytes } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { createApiKey } from "../../src/operations/api-keys/create-api-key.ts";
import { listNotifications } from "../../src/operations/notifications/list-notifications.ts";
import { markAllRead } from "../../src/operations/notifications/mark-all-read.ts";
import { markRead } from "../../src/operations/notifications/mark-read.ts";
import { unreadCount } from "../../src/operations/notifications/unread-count.ts";
import { changeRole } from "../../src/operations/users/change-role.ts";
import { testDatabase } from "../support/test-database.ts";
import { runningSession } from "./running-session.ts";
import { ANONYMOUS, apiKey, createTestContext, refusalOf, session } from "./test-context.ts";

const test = testDatabase();
const context = createTestContext(test, { newApiKey });
beforeEach(async () => {
  await test.rows("delete from notification");
  await test.rows("delete from api_key");
  await test.rows(`update "user" set role = 'user'`);
});

function newApiKey() {
  const key = `tg_${randomBytes(20).toString("hex")}`;
  return { key, prefix: key.slice(0, 11), hash: createHash("sha256").update(key).digest() };
}

const storedNotifications = () =>
  test.rows<{ user_id: string; kind: string; details: unknown }>(
    "select user_id, kind, details from notification order by id",
  );

describe("creating an API key", () => {
  it("notifies its owner with the name and prefix, never the key", async () => {
    const created = await context.call(createApiKey, await runningSession(test, "user_1"), {
      name: `O'Brien "CI" \\ 中`,
    });
    expect(await storedNotifications()).toEqual([
      {
        user_id: "user_1",
        kind: "api_key_created",
        details: { name: `O'Brien "CI" \\ 中`, prefix: created.prefix },
      },
    ]);
    expect(JSON.stringify(await storedNotifications())).not.toContain(created.key);
  });

  it("notifies nobody when it is refused", async () => {
    await test.rows(
      `insert into api_key (id, user_id, name, prefix, hash)
       select gen_random_uuid(), 'user_1', 'many', 'tg_x', sha256(n::text::bytea) from generate_series(1, 100) n`,
    );
    const owner = await runningSession(test, "user_1");
    const refusal = await refusalOf(context.call(createApiKey, owner, { name: "one more" }));
    expect(refusal.code).toBe("conflict");
    expect((await refusalOf(context.call(createApiKey, session("gone"), { name: "x" }))).code).toBe(
      "unauthorized",
    );
    expect(await storedNotifications()).toEqual([]);
  });
});

describe("changing a role", () => {
  const change = (userId: string, role: string) =>
    context.call(changeRole, session("user_0", "admin"), { userId, role });

  it("notifies the user once, and not when the role stays the same", async () => {
    await change("user_1", "admin");
    await change("user_1", "admin");
    await change("user_2", "user");
    await change("user_2", "admin");
    await change("user_1", "user");
    expect((await refusalOf(change("user_2", "user"))).code).toBe("conflict");
    expect((await refusalOf(change("nobody", "admin"))).code).toBe("not_found");
    expect((await refusalOf(change("no\0body", "admin"))).code).toBe("invalid_input");
    expect(await storedNotifications()).toEqual([
      { user_id: "user_1", kind: "role_changed", details: { role: "admin" } },
      { user_id: "user_2", kind: "role_changed", details: { role: "admin" } },
      { user_id: "user_1", kind: "role_changed", details: { role: "user" } },
    ]);
  });

  it("notifies once for simultaneous changes", async () => {
    await Promise.all(Array.from({ length: 8 }, () => change("user_3", "admin")));
    expect(await storedNotifications()).toHaveLength(1);
  });
});

describe("notifications", () => {
  async function insertNotifications(userId: string, count: number): Promise<void> {
    await test.rows(
      `insert into notification (user_id, kind, details)
       select $1, 'role_changed', '{"role": "user"}' from generate_series(1, $2::int)`,
      [userId, count],
    );
  }
  const unread = async (userId: string) => (await context.call(unreadCount, session(userId))).count;

  it("count as unread until the caller reads them, singly or all at once", async () => {
    await insertNotifications("user_1", 5);
    await insertNotifications("user_2", 3);
    expect(await unread("user_1")).toBe(5);
    const { items } = await context.call(listNotifications, session("user_1"), { limit: 2 });
    const read = await context.call(markRead, session("user_1"), { id: items[0].id });
    expect(await context.call(markRead, apiKey("user_1"), { id: items[0].id })).toEqual(read);
    expect(await unread("user_1")).toBe(4);
    expect((await refusalOf(context.call(markRead, session("user_2"), { id: items[1].id }))).code).toBe(
      "not_found",
    );

    expect(await context.call(markAllRead, session("user_1"))).toEqual({ count: 4 });
    expect(await context.call(markAllRead, session("user_1"))).toEqual({ count: 0 });
    expect(await unread("user_1")).toBe(0);
    expect(await unread("user_2")).toBe(3);
    const [first] = (await context.call(listNotifications, session("user_1"), { limit: 1 })).items;
    expect(first.readAt).toEqual(read.readAt);
  });

  it("are counted and marked once by simultaneous requests", async () => {
    await insertNotifications("user_4", 50);
    const marked = await Promise.all(
      Array.from({ length: 4 }, () => context.call(markAllRead, session("user_4"))),
    );
    expect(marked.reduce((sum, { count }) => sum + count, 0)).toBe(50);
  });

  it.each([unreadCount, markAllRead])("require an account: $name", async (operation) => {
    expect((await refusalOf(context.call(operation, ANONYMOUS))).code).toBe("unauthorized");
  });
});
