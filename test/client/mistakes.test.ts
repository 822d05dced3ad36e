import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTollgate } from "../../clients/typescript/src/tollgate.ts";
import { freshDatabase, type TestDatabase } from "../support/database.ts";
import { freePort } from "../support/free-port.ts";
import { createKey, createUser } from "../support/people.ts";
import { startTestServer } from "../support/server.ts";

let test: TestDatabase;
let server: Awaited<ReturnType<typeof startTestServer>>;
let key: string;
beforeAll(async () => {
  test = await freshDatabase(0);
  server = await startTestServer(test.url);
  ({ key } = await createKey(server.url, await createUser(test, "Ana")));
});
afterAll(async () => {
  await server?.close();
  await test?.drop();
});

const client = (options = {}) => createTollgate({ url: server.url, key, ...options });

describe("a mistake of the program that calls", () => {
  it.each([
    ["a GET with a body", "GET", { body: {} }],
    ["a body that is no JSON", "POST", { body: { seats: 1n } }],
    ["a header that cannot be sent", "GET", { headers: { "x-note": "\u2026" } }],
  ])("is no missing response: %s", async (_, method, options) => {
    await expect(client().request(method, "/users/me", options)).rejects.toThrow(TypeError);
  });

  it("is named where the key is none", () => {
    expect(() => client({ key: "tgs_abc\u2026" })).toThrow("key: contains a character that no key can have");
  });

  it("does not reveal a key that was read with its line break", async () => {
    expect(await client({ key: `\n${key}\n` }).request("GET", "/users/me")).toMatchObject({ name: "Ana" });
  });

  it("is forgiven where a path begins without a slash", async () => {
    expect(await client().request("GET", "users/me")).toMatchObject({ name: "Ana" });
  });
});

describe("a call of a procedure", () => {
  it("says that the server does not answer, as other calls do", async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const error = { message: `No response from ${url}`, status: null, reason: "network" };
    await expect(client({ url, maxRetries: 0 }).rpc.user.me.query()).rejects.toMatchObject(error);
    await expect(client({ url, maxRetries: 0 }).request("GET", "/users/me")).rejects.toMatchObject(error);
  });

  it("says what the server does where it has no procedures", async () => {
    const error = { message: "Not found", status: 404 };
    await expect(client({ url: `${server.url}/api` }).rpc.user.me.query()).rejects.toMatchObject(error);
  });
});
