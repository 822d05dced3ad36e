import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { freshServer } from "../support/fresh-server.ts";
import { sendRequest } from "../support/http.ts";
import { createAdmin, createKey, createUser } from "../support/people.ts";
import { openRawConnection } from "../support/raw-connection.ts";

/** Long enough for the server to identify the caller, and to wait for the body. */
const HELD_BACK_MS = 1_000;

describe("a body that is held back", () => {
  const { server, test } = freshServer();

  /** Sends the body only after `meanwhile`. @returns the response */
  async function sendLate(
    path: string,
    { credentials, body, meanwhile }: { credentials: string; body: object; meanwhile(): Promise<unknown> },
  ): Promise<string> {
    const text = JSON.stringify(body);
    const head = [
      `POST ${path} HTTP/1.1`,
      "Host: localhost",
      credentials,
      "Connection: close",
      "Content-Type: application/json",
      `Content-Length: ${text.length}`,
    ];
    const connection = openRawConnection(server.url, `${head.join("\r\n")}\r\n\r\n${text.slice(0, 1)}`);
    await sleep(HELD_BACK_MS);
    await meanwhile();
    connection.socket.write(text.slice(1));
    return connection.closed;
  }

  const demote = (id: string) => () => test.rows(`update "user" set role = 'user' where id = $1`, [id]);

  it("is accepted when nothing has changed", async () => {
    const { cookie } = await createUser(test);
    const response = await sendLate("/api/v2/api-keys", {
      credentials: `Cookie: ${cookie}`,
      body: { name: "Slow" },
      meanwhile: async () => {},
    });
    expect(response).toMatch(/^HTTP\/1\.1 201 /);
  });

  it("creates no key for a session that was revoked meanwhile", async () => {
    const { id, cookie } = await createUser(test);
    const response = await sendLate("/api/v2/api-keys", {
      credentials: `Cookie: ${cookie}`,
      body: { name: "Kept" },
      meanwhile: () => test.rows("delete from session where user_id = $1", [id]),
    });
    expect(response).toMatch(/^HTTP\/1\.1 401 [\s\S]*"reason":"unauthorized"/);
    expect(await test.rows("select id from api_key where user_id = $1", [id])).toEqual([]);
  });

  it("changes nothing for a key that was revoked meanwhile", async () => {
    const user = await createUser(test);
    const { id, key } = await createKey(server.url, user);
    const response = await sendLate("/api/trpc/user.updateProfile", {
      credentials: `X-API-Key: ${key}`,
      body: { json: { name: "Changed" } },
      meanwhile: () => test.rows("update api_key set revoked_at = now() where id = $1", [id]),
    });
    expect(response).toMatch(/^HTTP\/1\.1 401 [\s\S]*"reason":"unauthorized"/);
    expect(await test.rows(`select name from "user" where id = $1`, [user.id])).toEqual([
      { name: user.name },
    ]);
  });

  it.each([
    ["RPC", "/api/trpc/user.changeRole", (userId: string) => ({ json: { userId, role: "admin" } })],
    [
      "GraphQL",
      "/api/graphql",
      (userId: string) => ({ query: `mutation { changeRole(userId: "${userId}", role: ADMIN) { id } }` }),
    ],
  ])("promotes nobody over %s for an administrator who was demoted meanwhile", async (_, path, bodyFor) => {
    const [admin, accomplice] = [await createAdmin(test), await createUser(test)];
    const response = await sendLate(path, {
      credentials: `Cookie: ${admin.cookie}`,
      body: bodyFor(accomplice.id),
      meanwhile: demote(admin.id),
    });
    expect(response).toMatch(/"reason":"forbidden"/);
    expect(await test.rows(`select role from "user" where id = $1`, [accomplice.id])).toEqual([
      { role: "user" },
    ]);
  });
});

describe("a mutation after a slow one in the same request", () => {
  const { server, test } = freshServer();

  /** The first field waits for a lock that is held until `meanwhile` is done. */
  async function createKeySlowly(
    { id, cookie }: { id: string; cookie: string },
    meanwhile: () => Promise<unknown>,
  ): Promise<string> {
    const connection = await test.database.connection();
    await connection.script(`begin; select from "user" where id = '${id}' for update`);
    const response = sendRequest(server.url, "POST", "/api/graphql", {
      cookie,
      body: { query: `mutation { updateProfile(name: "Slow") { name } createApiKey(name: "Kept") { id } }` },
    });
    await sleep(HELD_BACK_MS);
    await meanwhile();
    await connection.script("rollback");
    connection.release({ healthy: true });
    return (await response).text;
  }

  const keysOf = (id: string) => test.rows("select id from api_key where user_id = $1", [id]);

  it("is carried out when nothing has changed", async () => {
    const user = await createUser(test);
    expect(await createKeySlowly(user, async () => {})).not.toContain("errors");
    expect(await keysOf(user.id)).toHaveLength(1);
  });

  it("creates no key for a session that was revoked meanwhile", async () => {
    const user = await createUser(test);
    const revoke = () => test.rows("delete from session where user_id = $1", [user.id]);
    expect(await createKeySlowly(user, revoke)).toContain('"reason":"unauthorized"');
    expect(await keysOf(user.id)).toEqual([]);
  });
});
