import { beforeEach, expect, it } from "vitest";
import { newServiceKey } from "../../src/auth/callers/api-key.ts";
import { accounts } from "./accounts.ts";

const site = accounts();
const { test } = site;

async function addUser(id: string, more: { role?: string; banned?: boolean } = {}): Promise<void> {
  const { role = "admin", banned = false } = more;
  await test.rows(
    `insert into "user" (id, name, email, role, banned) values ($1, $1, $1 || '@example.com', $2, $3)`,
    [id, role, banned],
  );
}

type KeyOptions = { createdBy?: string | null; ageDays?: number; daysLeft: number; isRevoked?: boolean };

async function addKey(
  name: string,
  { createdBy = null, ageDays = 352, daysLeft, isRevoked = false }: KeyOptions,
): Promise<string> {
  const { hash, prefix } = newServiceKey();
  await test.rows(
    `with k as (
       insert into service_key (id, name, permissions, limit_requests, limit_seconds, created_by, created_at, expires_at, revoked_at)
       values (gen_random_uuid(), $1, '{users:read}', 600, 60, $2, now() - $3::int * interval '1 day',
         now() + $4::int * interval '1 day', case when $5::boolean then now() end) returning id
     ) insert into service_key_secret (hash, service_key_id, prefix) select $6, id, $7 from k`,
    [name, createdBy, ageDays, daysLeft, isRevoked, hash, prefix],
  );
  return prefix;
}

const notified = () =>
  test.rows(
    `select user_id, kind, details ->> 'name' as name, details ->> 'prefix' as prefix from notification
     order by user_id, name`,
  );

beforeEach(async () => {
  await test.rows(`truncate "user", service_key, notification cascade`);
});

it("notifies whoever has created a service key once, two weeks before it expires", async () => {
  await addUser("creator");
  await addUser("other");
  const createdBy = "creator";
  const prefix = await addKey("soon", { createdBy, daysLeft: 13 });
  await addKey("later", { createdBy, daysLeft: 15 });
  await addKey("short", { createdBy, ageDays: 1, daysLeft: 5 });
  await addKey("revoked", { createdBy, daysLeft: 13, isRevoked: true });
  await addKey("expired", { createdBy, daysLeft: -1 });
  expect(await site.auth.notifyExpiringKeys()).toBe(1);
  expect(await site.auth.notifyExpiringKeys()).toBe(0);
  expect(await notified()).toEqual([
    { user_id: "creator", kind: "service_key_expiring", name: "soon", prefix },
  ]);
});

it("names the newest secret of a service key that was rotated", async () => {
  await addUser("creator");
  await addKey("shop", { createdBy: "creator", daysLeft: 13 });
  const { hash, prefix } = newServiceKey();
  await test.rows(
    "insert into service_key_secret (hash, service_key_id, prefix) select $1, id, $2 from service_key",
    [hash, prefix],
  );
  await site.auth.notifyExpiringKeys();
  expect(await notified()).toMatchObject([{ prefix }]);
});

it("notifies all administrators of the operator's keys, and of keys whose creator is no longer an administrator", async () => {
  await addUser("admin");
  await addUser("another");
  await addUser("suspended", { banned: true });
  await addUser("user", { role: "user" });
  await addKey("a", { createdBy: "suspended", daysLeft: 13 });
  await addKey("b", { createdBy: "user", daysLeft: 13 });
  await addKey("c", { createdBy: null, daysLeft: 13 });
  expect(await site.auth.notifyExpiringKeys()).toBe(3);
  expect(await notified()).toMatchObject(
    ["admin", "another"].flatMap((user_id) =>
      ["a", "b", "c"].map((name) => ({ user_id, kind: "service_key_expiring", name })),
    ),
  );
});
