import { loggerLink, splitLink } from "@trpc/client";
import { beforeAll, describe, expect, it } from "vitest";
import type { AppRouter } from "../../../src/api/rpc/app-router.ts";
import { freshServer } from "../../support/fresh-server.ts";
import { sendRequest } from "../../support/http.ts";
import { createAdmin, createUser, type TestUser } from "../../support/people.ts";
import { LINKS, type LinkName, refusalOf, rpcClient, sendingLink } from "./rpc-client.ts";

const DAY_SECONDS = 24 * 3600;

const { test, server } = freshServer({ users: 3 });
let ada: TestUser;
let admin: TestUser;

beforeAll(async () => {
  ada = await createUser(test, "Ada");
  admin = await createAdmin(test);
});

describe.each(Object.keys(LINKS) as LinkName[])("the official client through %s", (link) => {
  const as = ({ cookie }: Pick<TestUser, "cookie">, more = {}) =>
    rpcClient(server.url, { link, cookie, ...more });

  it("returns the caller as specified", async () => {
    expect(await as(ada).user.me.query()).toEqual({ id: ada.id, name: ada.name, email: ada.email });
  });

  it("changes the caller's name and updatedAt", async () => {
    const person = await createUser(test);
    const before = await rowOf(person);
    expect(await as(person).user.updateProfile.mutate({ name: "Ada Lovelace" })).toEqual({ success: true });
    const after = await rowOf(person);
    expect(after?.name).toBe("Ada Lovelace");
    expect(after?.updated_at.getTime()).toBeGreaterThan(before?.updated_at.getTime() ?? Number.NaN);
  });

  it("receives dates as dates, and null as null", async () => {
    const { items, nextCursor } = await as(admin).user.list.query({ limit: 1 });
    expect(items).toHaveLength(1);
    expect(items[0]?.createdAt).toBeInstanceOf(Date);
    expect(items[0]?.createdAt.toISOString()).toBe(
      (await sendRequest(server.url, "GET", "/api/users?limit=1", admin)).body.users[0].createdAt,
    );
    const next = await as(admin).user.list.query({ limit: 1, cursor: nextCursor });
    expect(next.items[0]?.id).not.toBe(items[0]?.id);
    const { nextCursor: end } = await as(admin).user.list.query({ limit: 100, cursor: undefined });
    expect(end).toBeNull();
  });

  it("reads by API key", async () => {
    const { body } = await sendRequest(server.url, "POST", "/api/api-keys", { ...ada, body: { name: "CI" } });
    expect(await rpcClient(server.url, { link, key: body.key }).user.me.query()).toMatchObject({
      id: ada.id,
    });
    const wrong = rpcClient(server.url, { link, cookie: ada.cookie, key: `tg_${"x".repeat(40)}` });
    expect(await refusalOf(wrong.user.me.query())).toEqual(["UNAUTHORIZED", "Unauthorized"]);
    expect(await refusalOf(wrong.billing.plans.query())).toEqual(["UNAUTHORIZED", "Unauthorized"]);
  });

  it("receives the operation's message for a refusal", async () => {
    expect(await refusalOf(rpcClient(server.url, { link }).user.me.query())).toEqual([
      "UNAUTHORIZED",
      "Unauthorized",
    ]);
    expect(await refusalOf(as(ada).user.list.query())).toEqual(["FORBIDDEN", "Forbidden"]);
    expect(await refusalOf(as(ada).user.updateProfile.mutate({ name: "" }))).toEqual([
      "BAD_REQUEST",
      "name: expected 1 to 100 characters",
    ]);
    expect(await refusalOf(as(ada).notifications.markRead.mutate({ id: "999999" }))).toEqual([
      "NOT_FOUND",
      "No such notification",
    ]);
  });

  it("is served under every version of the API, in the same form", async () => {
    for (const version of ["v1", "v2"]) {
      const answers: Response[] = [];
      const client = as(ada, {
        base: `/api/${version}`,
        onAnswer: (response: Response) => answers.push(response),
      });
      expect(await client.user.me.query()).toMatchObject({ id: ada.id });
      expect(await client.billing.plans.query({ limit: 1 })).toMatchObject({ items: [{ id: "free" }] });
      const versions = new Set(answers.map(({ headers }) => headers.get("x-api-version")));
      expect([...versions]).toEqual([version]);
    }
  });

  it("reads lists by infinite queries", async () => {
    const pages = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const input = { limit: 2, ...(cursor ? { cursor } : {}), direction: "forward" };
      const page = await as(ada).billing.plans.query(input as { limit: number });
      pages.push(page.items.map(({ id }) => id));
      cursor = page.nextCursor;
    }
    expect(pages).toEqual([["free", "pro"], ["team"]]);
    const rename = { name: "Eve", direction: "forward" } as { name: string };
    expect(await refusalOf(as(ada).user.updateProfile.mutate(rename))).toEqual([
      "BAD_REQUEST",
      "direction: unknown field",
    ]);
  });

  it("calls procedures through links that log and that split queries from mutations", async () => {
    const logged: unknown[] = [];
    const client = as(ada, {
      links: [
        loggerLink<AppRouter>({ logger: ({ path, direction }) => logged.push([direction, path]) }),
        splitLink<AppRouter>({
          condition: ({ type }) => type === "mutation",
          true: sendingLink(server.url, { link: "httpLink", cookie: ada.cookie }),
          false: sendingLink(server.url, { link, cookie: ada.cookie }),
        }),
      ],
    });
    expect(await client.user.me.query()).toMatchObject({ id: ada.id });
    expect(await client.user.updateProfile.mutate({ name: "Ada" })).toEqual({ success: true });
    expect(logged).toEqual([
      ["up", "user.me"],
      ["down", "user.me"],
      ["up", "user.updateProfile"],
      ["down", "user.updateProfile"],
    ]);
  });

  it("receives the cookie of an extended session", async () => {
    const person = await createUser(test);
    await test.rows(
      "update session set expires_at = now() + $2::int * interval '1 second' where user_id = $1",
      [person.id, 5 * DAY_SECONDS],
    );
    const answers: Response[] = [];
    const me = as(person, { onAnswer: (response: Response) => answers.push(response) }).user.me;
    expect(await me.query()).toMatchObject({ id: person.id });
    expect(await me.query()).toMatchObject({ id: person.id });
    expect(answers.map(({ headers }) => headers.getSetCookie().length)).toEqual([1, 0]);
  });
});

it.each(Object.keys(LINKS) as LinkName[])(
  "sends long queries by POST through %s with methodOverride",
  async (link) => {
    const responses: Response[] = [];
    const client = rpcClient(server.url, {
      link,
      cookie: ada.cookie,
      methodOverride: "POST",
      onAnswer: (response) => responses.push(response),
    });
    expect(await client.billing.plans.query({ limit: 1 })).toMatchObject({ items: [{ id: "free" }] });
    // Refused for its value, not for its length, which no URL has room for.
    const cursor = "x".repeat(20_000);
    expect(await refusalOf(client.billing.plans.query({ cursor }))).toEqual([
      "BAD_REQUEST",
      expect.stringMatching(/^cursor: /),
    ]);
    const inputs = new Set(responses.map(({ url }) => new URL(url).searchParams.get("input")));
    expect([...inputs]).toEqual([null]);
  },
);

it.each(["httpBatchLink", "httpBatchStreamLink"] as const)(
  "refuses eleven calls at once through %s with the number for maxItems, with which they pass",
  async (link) => {
    const elevenCalls = (client: ReturnType<typeof rpcClient>) =>
      Array.from({ length: 11 }, () => client.billing.plans.query({ limit: 1 }));
    for (const call of elevenCalls(rpcClient(server.url, { link, cookie: ada.cookie }))) {
      expect(await refusalOf(call)).toEqual([
        "BAD_REQUEST",
        "A batch may hold at most 10 calls: set maxItems of httpBatchLink to 10",
      ]);
    }
    const responses: Response[] = [];
    const onAnswer = (response: Response) => void responses.push(response);
    const limited = rpcClient(server.url, { link, cookie: ada.cookie, maxItems: 10, onAnswer });
    expect(await Promise.all(elevenCalls(limited))).toHaveLength(11);
    expect(responses).toHaveLength(2);
  },
);

describe("a batch", () => {
  it.each(["httpBatchLink", "httpBatchStreamLink"] as const)(
    "through %s is one request, whose calls fail independently",
    async (link) => {
      const answers: Response[] = [];
      const client = rpcClient(server.url, {
        link,
        cookie: ada.cookie,
        onAnswer: (answer) => answers.push(answer),
      });
      const results = await Promise.allSettled([
        client.user.me.query(),
        client.user.list.query(),
        client.billing.plans.query({ limit: 1 }),
        client.billing.plans.query({ limit: 0 }),
        client.notifications.list.query(),
      ]);
      expect(answers).toHaveLength(1);
      expect(results.map(({ status }) => status)).toEqual([
        "fulfilled",
        "rejected",
        "fulfilled",
        "rejected",
        "fulfilled",
      ]);
      expect(
        results.map((result) => (result.status === "rejected" ? result.reason.data.code : null)),
      ).toEqual([null, "FORBIDDEN", null, "BAD_REQUEST", null]);
    },
  );

  it("still answers the other calls when one has an unreadable input", async () => {
    const { billing, user } = rpcClient(server.url, { link: "httpBatchLink", cookie: ada.cookie });
    const results = await Promise.allSettled([
      user.me.query(),
      billing.plans.query({ limit: new Map() as unknown as number }),
      billing.plans.query({ limit: 1 }),
    ]);
    expect(results).toMatchObject([
      { status: "fulfilled", value: { id: ada.id } },
      { status: "rejected", reason: { data: { code: "BAD_REQUEST", path: "billing.plans" } } },
      { status: "fulfilled", value: { items: [{ id: "free" }] } },
    ]);
  });

  it.each(["half a \ud83d", "a\0b"])("still makes the other calls when one has the text %j", async (text) => {
    const ana = await createUser(test);
    for (const link of ["httpBatchLink", "httpBatchStreamLink"] as const) {
      const { billing, user } = rpcClient(server.url, { link, cookie: ana.cookie });
      const results = await Promise.allSettled([
        user.updateProfile.mutate({ name: text }),
        user.updateProfile.mutate({ name: `${link} Ana` }),
        billing.check.query({ feature: text }),
        user.me.query(),
      ]);
      expect(results).toMatchObject([
        { status: "rejected", reason: { data: { reason: "invalid_input", path: "user.updateProfile" } } },
        { status: "fulfilled" },
        { status: "rejected", reason: { data: { reason: "invalid_input", path: "billing.check" } } },
        { status: "fulfilled" },
      ]);
      expect((await rowOf(ana))?.name).toBe(`${link} Ana`);
    }
  });

  it("runs each mutation of a batch once", async () => {
    const person = await createUser(test);
    const answers: Response[] = [];
    const client = rpcClient(server.url, {
      cookie: person.cookie,
      onAnswer: (answer) => answers.push(answer),
    });
    await Promise.all(["One", "Two", "Three"].map((name) => client.user.updateProfile.mutate({ name })));
    expect(answers).toHaveLength(1);
    expect(["One", "Two", "Three"]).toContain((await rowOf(person))?.name);
  });

  it("streams the result of each call of a batch as it completes", async () => {
    const client = rpcClient(server.url, { link: "httpBatchStreamLink", cookie: ada.cookie });
    const holder = await test.database.connection();
    await holder.script("begin; lock table notification in access exclusive mode");
    let isListed = false;
    const listing = client.notifications.list.query().then(({ items }) => {
      isListed = true;
      return items;
    });
    const plans = await client.billing.plans.query();
    expect([plans.items.length, isListed]).toEqual([3, false]);
    await holder.script("commit");
    holder.release({ healthy: true });
    expect(await listing).toHaveLength(Object.keys(LINKS).length);
  });
});

async function rowOf({ id }: TestUser) {
  const rows = await test.rows<{ name: string; updated_at: Date }>(
    `select name, updated_at from "user" where id = $1`,
    [id],
  );
  return rows[0];
}
