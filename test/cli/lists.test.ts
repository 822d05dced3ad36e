import { beforeAll, describe, expect, it } from "vitest";
import { testDatabase } from "../support/test-database.ts";
import { serverVariables } from "../support/variables.ts";
import { type Tollgate, tollgateIn } from "./tollgate.ts";

const test = testDatabase(5);
let tollgate: Tollgate;
beforeAll(async () => {
  tollgate = tollgateIn(serverVariables(test.url));
  await test.rows(
    `insert into api_key (id, user_id, name, prefix, hash, created_at, expires_at)
     select gen_random_uuid(), 'user_' || n % 2, 'key ' || n, 'tg_' || n, sha256(n::text::bytea),
       timestamptz '2026-01-01Z' + n * interval '1 day', timestamptz '2026-06-01Z'
     from generate_series(0, 4) n`,
  );
  await test.rows(`update api_key set revoked_at = now() where name = 'key 4'`);
  await test.rows(
    `with created as (
       insert into service_key (id, name, permissions, limit_requests, limit_seconds, created_at)
       values (gen_random_uuid(), 'shop', '{users:read}', 60, 60, '2026-01-03 12:00Z'),
         (gen_random_uuid(), 'store', '{users:read}', 60, 60, '2026-01-02 12:00Z')
       returning id, name
     )
     insert into service_key_secret (service_key_id, hash, prefix)
     select id, sha256(name::bytea), 'tgs_' || name from created`,
  );
});

/** All pages of a list, each as the ids or names of its items. */
async function pages(column: string, ...command: string[]): Promise<string[][]> {
  const pages: string[][] = [];
  let cursor: string[] = [];
  for (;;) {
    const { code, stdout, stderr } = await tollgate(...command, "--limit", "2", ...cursor, "--json");
    expect(code).toBe(0);
    pages.push(JSON.parse(stdout).map((item: Record<string, string>) => item[column]));
    const next = /^next page: --cursor (\S+)\n$/.exec(stderr)?.[1];
    if (next === undefined) return pages;
    cursor = ["--cursor", next];
  }
}

describe("lists", () => {
  it("continues users list from the cursor that it printed on stderr", async () => {
    expect(await pages("id", "users", "list")).toEqual([
      ["user_0", "user_1"],
      ["user_2", "user_3"],
      ["user_4"],
    ]);
  });

  it("continues webhooks list, endpoints list, endpoints deliveries and audit list likewise", async () => {
    await test.rows(
      `insert into webhook_delivery (provider, event_id, event_type, format, status, claim_source, payload)
       select 'provider-a', 'evt_' || n, 'other', 'stripe', 'successful', 'delivery', '{}' from generate_series(1, 3) n`,
    );
    const creating = tollgateIn({ ...serverVariables(test.url), OUTBOUND_ALLOW: "127.0.0.1" });
    for (const name of ["a", "b", "c"])
      await creating.json("endpoints", "create", `http://127.0.0.1/${name}`);
    expect(await pages("eventId", "webhooks", "list")).toEqual([["evt_3", "evt_2"], ["evt_1"]]);
    const urls = (await pages("url", "endpoints", "list")).map((page) =>
      page.map((url) => url.at(-1)).sort(),
    );
    expect([urls.map(({ length }) => length), urls.flat().sort()]).toEqual([
      [2, 1],
      ["a", "b", "c"],
    ]);
    const [{ id: endpointId }] = await creating.json("endpoints", "list");
    await test.rows(
      `insert into outbound_delivery (endpoint_id, event_id, event_type, subject, give_up_at)
       select $1, 'evt_' || n, 'user.created', 'user', now() from generate_series(1, 3) n`,
      [endpointId],
    );
    expect(await pages("eventId", "endpoints", "deliveries", endpointId)).toEqual([
      ["evt_3", "evt_2"],
      ["evt_1"],
    ]);
    const entries = await pages("id", "audit", "list");
    expect(entries.map(({ length }) => length)).toEqual([2, 1]);
    expect(new Set(entries.flat()).size).toBe(3);
  });

  it("lists service keys and all users' keys that are not revoked, newest first", async () => {
    expect(await pages("name", "keys", "list")).toEqual([
      ["key 3", "shop"],
      ["key 2", "store"],
      ["key 1", "key 0"],
    ]);
    expect((await pages("prefix", "keys", "list")).flat()).toEqual([
      ...["tg_3", "tgs_shop", "tg_2", "tgs_store", "tg_1", "tg_0"],
    ]);
  });

  it("lists the keys of one user, with owner and expiry, but never the key or its hash", async () => {
    const keys = await tollgate.json("keys", "list", "--user", "user_1@example.com");
    expect(keys).toEqual([
      {
        id: expect.any(String),
        name: "key 3",
        prefix: "tg_3",
        createdAt: "2026-01-04T00:00:00.000Z",
        expiresAt: "2026-06-01T00:00:00.000Z",
        lastUsedAt: null,
        userId: "user_1",
        email: "user_1@example.com",
      },
      expect.objectContaining({ name: "key 1" }),
    ]);
    const { stdout } = await tollgate("keys", "list", "--user", "user_1@example.com");
    expect(stdout).toMatch(/user_1@example\.com +key 3 +tg_3 +2026-01-04 +expired +never/);
  });

  it.each([
    ["users list", "--cursor", "nonsense", 2],
    ["webhooks list", "--cursor", "nonsense", 2],
    ["keys list", "--cursor", "bm9uc2Vuc2U", 2],
    ["keys list", "--user", "nobody@example.com", 1],
  ])("fails with one sentence: %s %s %s, exit status %i", async (command, option, value, status) => {
    const { code, stdout, stderr } = await tollgate(...command.split(" "), option, value);
    expect({ code, stdout }).toEqual({ code: status, stdout: "" });
    expect(stderr).toMatch(/^[^\n]*(cursor: expected|No such user)[^\n]*\n$/);
  });
});
