import { beforeAll, describe, expect, it } from "vitest";
import { newApiKey } from "../../src/auth/callers/api-key.ts";
import { OPERATOR } from "../../src/domain/callers/caller.ts";
import { createApiKey } from "../../src/operations/api-keys/create-api-key.ts";
import { revokeAnyKey } from "../../src/operations/api-keys/revoke-any-key.ts";
import { revokeApiKey } from "../../src/operations/api-keys/revoke-api-key.ts";
import { listAuditEntries } from "../../src/operations/audit/list-audit-entries.ts";
import { changeRole } from "../../src/operations/users/change-role.ts";
import { deleteUser } from "../../src/operations/users/delete-user.ts";
import { deleteOldAuditEntries } from "../../src/store/audit/audit-log.ts";
import { testDatabase } from "../support/test-database.ts";
import { runningSession } from "./running-session.ts";
import { apiKey, createTestContext, refusalOf, session } from "./test-context.ts";

describe("the audit log", () => {
  const test = testDatabase(6);
  const context = createTestContext(test, { newApiKey });
  const admin = session("user_0", "admin");
  beforeAll(async () => {
    await test.rows(`update "user" set role = 'admin' where id = 'user_0'`);
  });

  const entries = async (input = {}) => (await context.call(listAuditEntries, admin, input)).items;

  it("records actor, action, target and address", async () => {
    await context.call(changeRole, admin, { userId: "user_1", role: "admin" });
    expect(await entries({ target: "user_1" })).toEqual([
      {
        id: expect.stringMatching(/^\d+$/),
        at: expect.any(Date),
        actor: { kind: "session", userId: "user_0", keyId: null },
        address: "192.0.2.1",
        action: "user.role_changed",
        target: { type: "user", id: "user_1" },
        details: { role: "admin" },
      },
    ]);
  });

  it("records no refused call and none that changed nothing", async () => {
    const before = (await entries()).length;
    await context.call(changeRole, admin, { userId: "user_0", role: "admin" });
    await refusalOf(context.call(changeRole, session("user_2"), { userId: "user_2", role: "admin" }));
    await refusalOf(
      context.call(deleteUser, admin, { userId: "nobody", confirmation: "nobody@example.com" }),
    );
    expect((await entries()).length).toBe(before);
  });

  it("records keys, also those that the operator revokes", async () => {
    const owner = await runningSession(test, "user_3");
    const first = await context.call(createApiKey, owner, { name: "First" });
    const second = await context.call(createApiKey, owner, { name: "Second" });
    await context.call(revokeApiKey, owner, { id: first.id });
    await context.call(revokeAnyKey, OPERATOR, { id: second.id });
    const actions = (await entries({ action: "api_key" })).map(
      (entry: { action: string; actor: { kind: string }; target: { id: string } }) => [
        entry.action,
        entry.actor.kind,
        entry.target.id,
      ],
    );
    expect(actions).toEqual([
      ["api_key.revoked", OPERATOR.kind, second.id],
      ["api_key.revoked", "session", first.id],
      ["api_key.created", "session", second.id],
      ["api_key.created", "session", first.id],
    ]);
    expect(JSON.stringify(await entries({ action: "api_key" }))).not.toContain(first.key);
  });

  it("records deletions, and keeps a deleted user's entries", async () => {
    await context.call(deleteUser, admin, { userId: "user_4", confirmation: "user_4@example.com" });
    expect(await entries({ target: "user_4" })).toMatchObject([{ action: "user.deleted" }]);
  });

  it("records bans that an operator sets with SQL", async () => {
    await test.rows(`update "user" set banned = true where id = 'user_5'`);
    await test.rows(`update "user" set banned = false where id = 'user_5'`);
    expect(await entries({ target: "user_5" })).toMatchObject([
      { action: "user.unbanned", actor: { kind: "database" } },
      { action: "user.banned", actor: { kind: "database" } },
    ]);
  });

  it("is filtered by action, actor, target and time, and read in pages", async () => {
    const all = await entries();
    expect(await entries({ action: "user.role_changed" })).toHaveLength(1);
    expect(await entries({ actor: "user_3" })).toHaveLength(3);
    expect(await entries({ to: "2001-01-01T00:00:00Z" })).toEqual([]);
    expect(await entries({ from: "2001-01-01T00:00:00Z" })).toEqual(all);
    const paged = [];
    for (let cursor: string | null = null; ; ) {
      const page = await context.call(listAuditEntries, admin, { limit: 2, cursor });
      paged.push(...page.items);
      cursor = page.nextCursor;
      if (cursor === null) break;
    }
    expect(paged).toEqual(all);
  });

  it("finds what a key did, an action by its first word, and what happened at or after a time and before another", async () => {
    await test.rows(
      `insert into audit_entry (at, actor_kind, actor_id, key_id, action, target_type, target_id)
       values ('2040-01-01T00:00:00Z', 'session', 'user_9', null, 'users.imported', 'import', 'a'),
         ('2040-01-02T00:00:00Z', 'api-key', 'user_9', 'key_9', 'user.deleted', 'user', 'b'),
         ('2040-01-03T00:00:00Z', 'session', 'user_8', null, 'user.deleted', 'user', 'c')`,
    );
    const targets = async (input: object) =>
      (await entries({ from: "2040-01-01T00:00:00Z", ...input })).map(
        (entry: { target: { id: string } }) => entry.target.id,
      );
    expect(await targets({})).toEqual(["c", "b", "a"]);
    expect(await targets({ actor: "key_9" })).toEqual(["b"]);
    expect(await targets({ actor: "user_9" })).toEqual(["b", "a"]);
    expect(await targets({ action: "user" })).toEqual(["c", "b"]);
    expect(await targets({ from: "2040-01-02T00:00:00Z", to: "2040-01-03T00:00:00Z" })).toEqual(["b"]);
  });

  it("requires an administrator's session", async () => {
    for (const caller of [session("user_2"), apiKey("user_0", "admin")]) {
      expect(await refusalOf(context.call(listAuditEntries, caller))).toMatchObject({ code: "forbidden" });
    }
  });

  it("cannot be changed or deleted early, also with SQL", async () => {
    await expect(test.rows("update audit_entry set actor_id = null")).rejects.toThrow("append-only");
    await expect(test.rows("delete from audit_entry")).rejects.toThrow("append-only");
    for (const tables of ["audit_entry", 'audit_entry, "user" cascade'])
      await expect(test.rows(`truncate ${tables}`)).rejects.toThrow("append-only");
  });

  it("is kept for the configured time", async () => {
    await test.rows(
      `insert into audit_entry (at, actor_kind, action, target_type, target_id)
       select now() - n * interval '1 day', 'operator', 'user.role_changed', 'user', 'old' from unnest(array[89, 91]) n`,
    );
    expect(await deleteOldAuditEntries(test.database, { retentionDays: 90, limit: 10 })).toBe(1);
    expect(await entries({ target: "old" })).toHaveLength(1);
  });
});
