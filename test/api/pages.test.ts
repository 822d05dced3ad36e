import { randomBytes, randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import plans from "../../plans.config.ts";
import { freshServer } from "../support/fresh-server.ts";
import { sendRequest } from "../support/http.ts";
import { createAdmin, createUser, type TestUser } from "../support/people.ts";
import { createSubscription } from "../support/subscriptions.ts";

type Item = { id: string };

type List = {
  path: string;
  plural: string;
  /** By time of creation and then id, or in the order in which they were recorded. */
  order: "oldest first" | "newest first" | "latest recorded first";
  /** Adds one that was made at this time, and returns its id. */
  add(owner: TestUser, createdAt: string): Promise<string>;
  /** Texts that look like cursors, but are not cursors of this list. */
  foreign: string[];
};

const { test, server } = freshServer();

const added = async (text: string, values: unknown[]): Promise<string> =>
  (await test.rows<{ id: string }>(text, values))[0]?.id as string;

const cursorOf = (text: string) => Buffer.from(text).toString("base64url");

const OF_HISTORY = randomUUID();
let entries = 0;

const LISTS: Record<string, List> = {
  users: {
    path: "/users",
    plural: "users",
    order: "oldest first",
    add: (_, createdAt) => {
      const id = `u${randomBytes(8).toString("hex")}`;
      return added(`insert into "user" (id, name, email, created_at) values ($1, 'U', $2, $3) returning id`, [
        id,
        `${id}@example.com`,
        createdAt,
      ]);
    },
    foreign: ["42", cursorOf("42"), cursorOf("1700000000000000."), cursorOf("1700000000000000.\0")],
  },
  subscriptions: {
    path: "/subscriptions",
    plural: "subscriptions",
    order: "newest first",
    add: ({ id }, createdAt) => createSubscription(test, id, { created_at: createdAt }),
    foreign: ["42", cursorOf("1700000000000000.somebody"), cursorOf(`x.${randomUUID()}`)],
  },
  "API keys": {
    path: "/api-keys",
    plural: "apiKeys",
    order: "newest first",
    add: ({ id }, createdAt) =>
      added(
        `insert into api_key (id, user_id, name, prefix, hash, created_at)
         values ($1, $2, 'x', 'tg_xxxxxxxx', decode($3, 'hex'), $4) returning id`,
        [randomUUID(), id, randomBytes(32).toString("hex"), createdAt],
      ),
    foreign: ["42", cursorOf("1700000000000000.somebody"), cursorOf(randomUUID())],
  },
  notifications: {
    path: "/notifications",
    plural: "notifications",
    order: "latest recorded first",
    add: ({ id }, createdAt) =>
      added(
        "insert into notification (user_id, kind, created_at) values ($1, 'role_changed', $2) returning id::text",
        [id, createdAt],
      ),
    foreign: ["0", "x", cursorOf(`1700000000000000.${randomUUID()}`)],
  },
  "the user directory": {
    path: "/user-directory",
    plural: "users",
    order: "newest first",
    add: (owner, createdAt) => (LISTS.users as List).add(owner, createdAt),
    foreign: ["42", cursorOf("1700000000000000."), cursorOf("address.x"), cursorOf('["x","y"]')],
  },
  "a subscription's history": {
    path: `/subscriptions/${OF_HISTORY}/history`,
    plural: "history",
    order: "newest first",
    add: async ({ id }, at) => {
      await test.rows(
        `insert into subscription (id, user_id, provider, plan_id, seats, status, cancel_at_period_end, out_of_order)
         values ($1, $2, 'provider-a', 'pro', 1, 'active', false, false)
         on conflict (id) do update set user_id = excluded.user_id`,
        [OF_HISTORY, id],
      );
      entries += 1;
      const isComparison = entries % 3 === 0;
      return isComparison
        ? added(
            `insert into reconciliation (subscription_id, at, by, changes) values ($1, $2, 'operator', '{}')
             returning 'reconcile-' || id as id`,
            [OF_HISTORY, at],
          )
        : added(
            `insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source, first_source,
               first_outcome, first_duration_ms, first_subscription_id, first_changes, first_changed_at)
             values ('provider-a', $3, 'x', 'stripe', 'successful', 'delivery', 'delivery', 'successful', 1, $1, '{}', $2)
             returning 'event-' || id || '-1' as id`,
            [OF_HISTORY, at, randomUUID()],
          );
    },
    foreign: ["42", cursorOf("1700000000000000.somebody"), cursorOf(`1700000000000000.${randomUUID()}`)],
  },
  deliveries: {
    path: "/webhook-deliveries",
    plural: "deliveries",
    order: "latest recorded first",
    add: (_, receivedAt) =>
      added(
        `insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source, received_at)
         values ('provider-a', $1, 'x', 'stripe', 'successful', 'delivery', $2) returning id::text`,
        [randomUUID(), receivedAt],
      ),
    foreign: ["0", "x", cursorOf(`1700000000000000.${randomUUID()}`)],
  },
};

type Made = { id: string; at: string };

function sorted(made: readonly Made[], order: List["order"]): string[] {
  const ids = [...made].sort((a, b) => (`${a.at} ${a.id}` < `${b.at} ${b.id}` ? -1 : 1)).map(({ id }) => id);
  if (order === "oldest first") return ids;
  return order === "newest first" ? ids.reverse() : made.map(({ id }) => id).reverse();
}

describe.each(Object.entries(LISTS))("pagination of %s", (_, list) => {
  const { path, plural, order } = list;
  const isOfPeople = plural === "users";
  let owner: TestUser;
  /** In the order in which the list must have them. */
  let expected: string[];

  beforeAll(async () => {
    // Empties the lists that all users share.
    await test.rows(`delete from "user"`);
    await test.rows("delete from webhook_delivery");
    owner = await createAdmin(test);
    await test.rows(`update "user" set created_at = '2020-01-01' where id = $1`, [owner.id]);
    const items: Made[] = isOfPeople ? [{ id: owner.id, at: "2020-01-01" }] : [];
    // Many with one time, and others that differ by less than a millisecond.
    const times = [
      ...Array.from({ length: 14 }, () => "2024-05-06T07:08:09.123456Z"),
      ...Array.from({ length: 9 }, (_, n) => `2024-05-06T07:08:09.12345${9 - n}Z`),
      "2023-01-01T00:00:00.000000Z",
    ];
    for (const at of times) items.push({ id: await list.add(owner, at), at });
    expected = sorted(items, order);
  });

  const page = async (query: string): Promise<{ items: Item[]; nextCursor: string | null }> => {
    const { status, body } = await sendRequest(server.url, "GET", `/api${path}?${query}`, {
      cookie: owner.cookie,
    });
    expect([query, status]).toEqual([query, 200]);
    expect(Object.keys(body)).toEqual([plural, "nextCursor"]);
    return { items: body[plural], nextCursor: body.nextCursor };
  };

  /** @param between is done after every page */
  const walk = async (limit: number, between: () => Promise<unknown> = async () => {}): Promise<string[]> => {
    const ids: string[] = [];
    let cursor: string | null = null;
    for (let pages = 0; pages < 100; pages += 1) {
      const query: string = `limit=${limit}${cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`}`;
      const { items, nextCursor }: Awaited<ReturnType<typeof page>> = await page(query);
      expect(items.length).toBeLessThanOrEqual(limit);
      ids.push(...items.map(({ id }) => id));
      if (nextCursor === null) return ids;
      expect(items).toHaveLength(limit);
      cursor = nextCursor;
      await between();
    }
    throw new Error("no end");
  };

  it("returns every item once, in one order, for any page size", async () => {
    expect(expected).toHaveLength(isOfPeople ? 25 : 24);
    for (const limit of [1, 2, 5, 8, 12, 23, 24, 25, 26, 100]) expect(await walk(limit)).toEqual(expected);
  });

  it("neither skips nor repeats items while others are added", async () => {
    const fresh: string[] = [];
    const ids = await walk(4, async () => fresh.push(await list.add(owner, new Date().toISOString())));
    expect(ids.slice(0, expected.length)).toEqual(expected);
    // New items come after the last page, or before the first, which has been read.
    const freshCount = ids.length - expected.length;
    expect(ids.slice(expected.length)).toEqual(order === "oldest first" ? fresh.slice(0, freshCount) : []);
    expected = order === "oldest first" ? [...expected, ...fresh] : [...fresh.reverse(), ...expected];
  });

  it("ends with a null cursor, and defaults to 20 items", async () => {
    const count = expected.length;
    expect((await page(`limit=${count}`)).nextCursor).toBeNull();
    expect((await page(`limit=${count - 1}`)).nextCursor).not.toBeNull();
    expect((await page("")).items).toHaveLength(20);
  });

  it("accepts a limit from 1 to 100", async () => {
    for (const limit of ["0", "-1", "101", "1e2", "5.0", "0x5", "", " ", "ten", "1&limit=2"]) {
      const { status, body } = await sendRequest(server.url, "GET", `/api${path}?limit=${limit}`, {
        cookie: owner.cookie,
      });
      expect([limit, status, body]).toEqual([
        limit,
        400,
        expect.objectContaining({ error: expect.stringMatching(/^limit: /) }),
      ]);
    }
  });

  it("names the range for a number too large to hold exactly", async () => {
    for (const [limit, error] of [
      ["9".repeat(20), "limit: expected at most 100"],
      [`-${"9".repeat(400)}`, "limit: expected at least 1"],
    ]) {
      const { body } = await sendRequest(server.url, "GET", `/api${path}?limit=${limit}`, {
        cookie: owner.cookie,
      });
      expect(body).toMatchObject({ error });
    }
  });

  it("rejects a cursor that no page has returned", async () => {
    const garbage = [
      "",
      "%00",
      "null",
      "[]",
      "*",
      "%F0%9F%A7%AD",
      "x".repeat(501),
      cursorOf("-."),
      ...list.foreign,
    ];
    for (const cursor of garbage) {
      const { status, body } = await sendRequest(server.url, "GET", `/api${path}?cursor=${cursor}`, {
        cookie: owner.cookie,
      });
      expect([cursor, status, body]).toEqual([
        cursor,
        400,
        expect.objectContaining({ error: expect.stringMatching(/^cursor: /) }),
      ]);
    }
  });

  it("names its items by their plural in v1 and data in v2", async () => {
    const first = await sendRequest(server.url, "GET", `/api/v1${path}?limit=3`, { cookie: owner.cookie });
    expect(Object.keys(first.body)).toEqual([plural, "nextCursor"]);
    const inHeader = { cookie: owner.cookie, headers: { "x-api-version": "v2" } };
    for (const [listPath, call] of [
      [`/api/v2${path}`, { cookie: owner.cookie }],
      [`/api${path}`, inHeader],
    ] as const) {
      const { body } = await sendRequest(server.url, "GET", `${listPath}?limit=3`, call);
      expect(body).toEqual({ data: first.body[plural], nextCursor: first.body.nextCursor });
      const next = await sendRequest(
        server.url,
        "GET",
        `${listPath}?limit=3&cursor=${body.nextCursor}`,
        call,
      );
      expect(next.body.data.map(({ id }: Item) => id)).toEqual(expected.slice(3, 6));
    }
  });
});

describe("another user's cursor", () => {
  it.each(["/subscriptions", "/api-keys", "/notifications"])(
    "of %s reveals none of their items",
    async (path) => {
      const [owner, stranger] = [await createUser(test), await createUser(test)];
      const list = Object.values(LISTS).find((each) => each.path === path) as List;
      for (let n = 0; n < 4; n += 1) await list.add(owner, new Date().toISOString());
      const ownId = await list.add(stranger, "2020-01-01T00:00:00Z");
      const { body } = await sendRequest(server.url, "GET", `/api${path}?limit=2`, { cookie: owner.cookie });
      const response = await sendRequest(server.url, "GET", `/api${path}?cursor=${body.nextCursor}`, {
        cookie: stranger.cookie,
      });
      expect(response.status).toBe(200);
      for (const { id } of response.body[list.plural]) expect(id).toBe(ownId);
    },
  );

  it("reveals no other user to a caller without the role", async () => {
    const admin = await createAdmin(test);
    const { cookie, id } = await createUser(test);
    const { body } = await sendRequest(server.url, "GET", "/api/users?limit=1", { cookie: admin.cookie });
    const response = await sendRequest(server.url, "GET", `/api/users?cursor=${body.nextCursor}`, { cookie });
    expect(response.body.users.map((user: Item) => user.id)).toEqual([id]);
  });
});

describe("pagination of plans", () => {
  it("returns the catalog in its order, for anyone", async () => {
    const ids: string[] = [];
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? "" : `&cursor=${cursor}`;
      const { body } = await sendRequest(server.url, "GET", `/api/plans?limit=1${query}`);
      expect(Object.keys(body)).toEqual(["plans", "nextCursor"]);
      ids.push(...body.plans.map(({ id }: Item) => id));
      cursor = body.nextCursor;
    } while (cursor !== null);
    expect(ids).toEqual(plans.plans.map(({ id }) => id));
    const { body } = await sendRequest(server.url, "GET", "/api/v2/plans");
    expect(body).toEqual({
      data: ids.map((id) => expect.objectContaining({ id, seats: expect.any(Object) })),
      nextCursor: null,
    });
    expect(JSON.stringify(body)).not.toContain("price_");
  });

  it("rejects an invalid cursor or limit", async () => {
    for (const query of ["cursor=gold", "cursor=", "limit=0", "limit=101", "cursor=__proto__"]) {
      expect((await sendRequest(server.url, "GET", `/api/plans?${query}`)).status).toBe(400);
    }
  });
});
