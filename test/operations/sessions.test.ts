import { beforeAll, describe, expect, it } from "vitest";
import { listSessions } from "../../src/operations/sessions/list-sessions.ts";
import { revokeOtherSessions } from "../../src/operations/sessions/revoke-other-sessions.ts";
import { revokeSession } from "../../src/operations/sessions/revoke-session.ts";
import { showSecurity } from "../../src/operations/users/show-security.ts";
import { INTERACTIVE_LIMITS, inTransaction } from "../../src/store/transaction.ts";
import { LOCK_USER } from "../../src/store/users/lock-user.ts";
import { eventually } from "../support/eventually.ts";
import { testDatabase } from "../support/test-database.ts";
import { apiKey, createTestContext, refusalOf, session } from "./test-context.ts";

describe("active sessions", () => {
  const test = testDatabase(2);
  const context = createTestContext(test);
  const caller = { ...session("user_0"), sessionId: "here" };
  beforeAll(async () => {
    await test.rows(
      `insert into session (id, user_id, token, expires_at, user_agent, ip_address, created_at, updated_at)
       select id, user_id, 'token-' || id, now() + expires * interval '1 day', 'Firefox', '192.0.2.9',
         now() - age * interval '1 day', now() - age * interval '1 hour'
       from (values ('laptop', 'user_0', 7, 3), ('here', 'user_0', 7, 0), ('phone', 'user_0', 7, 1), ('expired', 'user_0', -1, 2),
         ('too old', 'user_0', 7, 91), ('theirs', 'user_1', 7, 0)) s (id, user_id, expires, age)`,
    );
  });

  const ids = async () =>
    (await context.call(listSessions, caller)).items.map((item: { id: string }) => item.id);

  it("are listed with device and address, the latest first, without tokens", async () => {
    const { items } = await context.call(listSessions, caller);
    expect(items[0]).toEqual({
      id: "here",
      userAgent: "Firefox",
      address: "192.0.2.9",
      createdAt: expect.any(Date),
      lastSeenAt: expect.any(Date),
      isCurrent: true,
    });
    expect(await ids()).toEqual(["here", "phone", "laptop"]);
    expect(JSON.stringify(items)).not.toContain("token");
  });

  it("can be revoked singly, but never another user's", async () => {
    await context.call(revokeSession, caller, { id: "phone" });
    expect(await ids()).toEqual(["here", "laptop"]);
    for (const id of ["phone", "theirs"]) {
      expect(await refusalOf(context.call(revokeSession, caller, { id }))).toMatchObject({
        code: "not_found",
      });
    }
  });

  it("can be revoked all but the current one", async () => {
    await context.call(revokeOtherSessions, caller);
    expect(await ids()).toEqual(["here"]);
    expect(await test.rows("select id from session where user_id = 'user_1'")).toHaveLength(1);
  });

  it("are not revoked by one that has ended meanwhile", async () => {
    const ended = { ...caller, sessionId: "just ended" };
    expect(await refusalOf(context.call(revokeOtherSessions, ended))).toMatchObject({ code: "unauthorized" });
    expect(await ids()).toEqual(["here"]);
  });

  it("keep one when two of them revoke all others at once", async () => {
    await test.rows(`insert into session (id, user_id, token, expires_at, updated_at)
      values ('there', 'user_0', 'token-there', now() + interval '1 day', now())`);
    const revoking = (sessionId: string) =>
      context
        .call(revokeOtherSessions, { ...session("user_0"), sessionId } as typeof caller)
        .catch(({ code }) => code);
    let outcomes: Promise<unknown[]> | undefined;
    await inTransaction(test.database, INTERACTIVE_LIMITS, async (transaction) => {
      await transaction.run(LOCK_USER, ["user_0"]);
      outcomes = Promise.all(["here", "there"].map(revoking));
      await eventually(
        () =>
          test.rows(
            "select count(*)::int as count from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
          ),
        [{ count: 2 }],
      );
    });
    expect((await outcomes)?.filter((outcome) => outcome === "unauthorized")).toHaveLength(1);
    expect(await ids()).toHaveLength(1);
  });

  it("cannot be listed or revoked with an API key", async () => {
    for (const [operation, input] of [
      [listSessions, {}],
      [revokeSession, { id: "here" }],
      [revokeOtherSessions, {}],
      [showSecurity, {}],
    ] as const) {
      expect(await refusalOf(context.call(operation, apiKey("user_0"), input))).toMatchObject({
        code: "forbidden",
      });
    }
  });
});
