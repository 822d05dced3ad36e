import { createHmac, randomUUID } from "node:crypto";
import type { TestDatabase } from "./database.ts";
import { type HttpResponse, sendRequest } from "./http.ts";
import { serverVariables } from "./variables.ts";

export type TestUser = { id: string; email: string; password: string; name: string; cookie: string };

let people = 0;

/** Signs a new user up over HTTP. */
export async function signUp(serverUrl: string, name = "Somebody New"): Promise<TestUser> {
  people += 1;
  const email = `person-${process.pid}-${people}@example.com`;
  const password = "a password of some length";
  const response = await sendRequest(serverUrl, "POST", "/api/auth/sign-up/email", {
    body: { name, email, password },
  });
  if (response.status !== 200) throw new Error(`sign-up: ${response.status} ${response.text}`);
  return { id: response.body.user.id, email, password, name, cookie: cookieOf(response) };
}

/** Signs a new administrator up. */
export async function signUpAdmin(serverUrl: string, test: Pick<TestDatabase, "rows">): Promise<TestUser> {
  const person = await signUp(serverUrl, "An Administrator");
  await test.rows(`update "user" set role = 'admin' where id = $1`, [person.id]);
  return person;
}

/** The `Cookie` header that a browser would send after this response. */
export function cookieOf({ headers }: { headers: Headers }): string {
  return headers
    .getSetCookie()
    .filter((cookie) => !cookie.includes("Max-Age=0"))
    .map((cookie) => cookie.split(";")[0])
    .join("; ");
}

/** An API key that acts as this user. */
export async function createKey(
  serverUrl: string,
  { cookie }: Pick<TestUser, "cookie">,
): Promise<{ id: string; key: string }> {
  const response: HttpResponse = await sendRequest(serverUrl, "POST", "/api/api-keys", {
    cookie,
    body: { name: "CI" },
  });
  if (response.status !== 201) throw new Error(`API key: ${response.status} ${response.text}`);
  return response.body;
}

/** Signs an existing user in without hashing a password. @returns the cookie */
export async function createSession(test: Pick<TestDatabase, "rows">, userId: string): Promise<string> {
  const token = randomUUID();
  await test.rows(
    "insert into session (id, user_id, token, expires_at) values ($2, $1, $2, now() + interval '7 days')",
    [userId, token],
  );
  const secret = serverVariables("").AUTH_SECRET as string;
  const signature = createHmac("sha256", secret).update(token).digest("base64");
  return `better-auth.session_token=${encodeURIComponent(`${token}.${signature}`)}`;
}
