import { beforeAll, describe, expect, it } from "vitest";
import { freshServer } from "../support/fresh-server.ts";
import { sendRequest } from "../support/http.ts";
import { serverVariables } from "../support/variables.ts";
import { type Tollgate, tollgateIn } from "./tollgate.ts";

const { test, server } = freshServer({ users: 20 });
let tollgate: Tollgate;
beforeAll(async () => {
  tollgate = tollgateIn(serverVariables(test.url));
});

const status = async (key: string) =>
  (await sendRequest(server.url, "GET", "/api/entitlements?user=user_1", { key })).status;

const create = (...options: string[]) =>
  tollgate.json("keys", "create", "--service", "--name", "shop", ...options);

describe("a service key of the command line", () => {
  it("is shown once, rotated with two secrets valid at once, listed and revoked", async () => {
    const created = await create("--permissions", "usage:write,entitlements:read", "--limit", "50/10");
    expect(created).toEqual({
      id: expect.any(String),
      name: "shop",
      prefix: created.key.slice(0, 12),
      key: expect.stringMatching(/^tgs_[A-Za-z0-9]{40}$/),
      permissions: ["entitlements:read", "usage:write"],
      limit: "50/10",
      expiresAt: expect.any(String),
    });
    const second = await tollgate.json("keys", "rotate", created.id);
    expect([await status(created.key), await status(second.key)]).toEqual([200, 200]);
    const third = await tollgate.json("keys", "rotate", created.id);
    expect([await status(created.key), await status(second.key), await status(third.key)]).toEqual([
      401, 200, 200,
    ]);

    const listed = await tollgate.json("keys", "list");
    expect(listed).toEqual([
      expect.objectContaining({ id: created.id, prefix: third.prefix, userId: null, limit: "50/10" }),
    ]);
    expect(JSON.stringify(listed)).not.toContain(third.key);
    expect((await tollgate("keys", "revoke", created.id)).code).toBe(0);
    expect([await status(second.key), await status(third.key)]).toEqual([401, 401]);
    expect((await tollgate("keys", "rotate", created.id)).code).toBe(1);
    const audited = await test.rows("select action, actor_kind from audit_entry order by id");
    expect(audited.map(({ action }) => action)).toEqual([
      ...["service_key.created", "service_key.rotated", "service_key.rotated", "service_key.revoked"],
    ]);
  });

  it.each([
    ["never", null],
    ["2099-02-03T00:00:00Z", "2099-02-03T00:00:00.000Z"],
  ])("expires when it is told to: %s", async (expires, expiresAt) => {
    expect(await create("--permissions", "users:read", "--expires", expires)).toMatchObject({ expiresAt });
  });

  it("is refused with an unknown permission", async () => {
    const { code, stderr } = await tollgate(
      "keys",
      "create",
      "--service",
      "--name",
      "x",
      "--permissions",
      "all",
    );
    expect([code, stderr]).toEqual([2, expect.stringContaining("users:read")]);
  });

  it.each([
    [["--limit", "3"], "--limit: expected requests/seconds for at most a day, e.g. 600/60"],
    [["--limit", "3/86401"], "--limit: expected requests/seconds for at most a day, e.g. 600/60"],
    [["--expires", "tomorrow"], "--expires: expected a time such as 2030-01-31T00:00:00Z"],
    [["--expires", "2020-01-01T00:00:00Z"], "--expires: "],
  ])("is refused with %s, naming the option as it is typed", async (options, sentence) => {
    const valid = ["--service", "--name", "x", "--permissions", "users:read"];
    const { code, stderr } = await tollgate("keys", "create", ...valid, ...options);
    expect(code).toBe(2);
    expect(stderr.slice(0, sentence.length)).toBe(sentence);
  });
});
