import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { afterEach, describe, expect, it, vi } from "vitest";
import { accounts } from "./accounts.ts";

const { scrypt } = crypto;
const TIMEOUT = { timeout: 30_000 };

/** Hashes that are held until released, as on a machine without time for them. */
const held: (() => void)[] = [];

function replaceScrypt(hash: (...parameters: Parameters<typeof scrypt>) => void): void {
  crypto.scrypt = hash as typeof scrypt;
  syncBuiltinESMExports();
}

const cheap = (...[password, salt, length, , done]: Parameters<typeof scrypt>) =>
  scrypt(password, salt, length, { N: 2, r: 1, p: 1 }, done);

function holdHashes(): void {
  replaceScrypt((...parameters) => void held.push(() => cheap(...parameters)));
}

function releaseHashes(): void {
  replaceScrypt(cheap);
  for (const hash of held.splice(0)) hash();
}

afterEach(releaseHashes);

describe("a flood of passwords from many networks", () => {
  const context = accounts();
  const post = (path: string, body: object, n: number) =>
    context.auth.handle(
      new Request(`http://localhost:3000/api/auth${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
      `2001:db8:${n.toString(16)}:1::/64`,
    );
  const signIn = (n: number) =>
    post("/sign-in/email", { email: `nobody-${n}@example.com`, password: "wrong password" }, n);
  const signUp = (n: number) =>
    post("/sign-up/email", { name: "Person", email: `new-${n}@example.com`, password: "a good password" }, n);

  it("leaves one of Node's four threads to files, names and compression", async () => {
    expect((await signIn(1)).status).toBe(401);
    holdHashes();
    const signIns = Array.from({ length: 20 }, (_, n) => signIn(n + 2));
    await vi.waitFor(() => expect(held.length).toBe(3), TIMEOUT);
    // Whatever comes first is served: it needs no password.
    expect((await post("/request-password-reset", { email: "somebody@example.com" }, 1)).status).toBe(200);
    expect(held.length).toBe(3);
    releaseHashes();
    expect((await Promise.all(signIns)).map(({ status }) => status)).toEqual(Array(20).fill(401));
  });

  it("is refused with 503 once 250 wait, and the others are served", async () => {
    expect((await signIn(30)).status).toBe(401);
    holdHashes();
    const statuses: number[] = [];
    const all = Array.from({ length: 260 }, async (_, n) => {
      const response = await (n < 6 ? signUp(n + 100) : signIn(n + 100));
      statuses.push(response.status);
      if (response.status === 503) expect(response.headers.get("retry-after")).toBe("5");
    });
    await vi.waitFor(() => expect(statuses).toEqual(Array(7).fill(503)), TIMEOUT);
    releaseHashes();
    await Promise.all(all);
    const count = (wanted: number) => statuses.filter((status) => status === wanted).length;
    expect([count(503), count(401), count(200)]).toEqual([7, 247, 6]);
  });
});
