import { createHmac, randomUUID } from "node:crypto";
import type { TestDatabase } from "./database.ts";
import { type HttpResponse, sendRequest } from "./http.ts";
import { serverVariables } from "./variables.ts";

export type TestUser = { id: string; email: string; password: string; name: string; cookie: string };

type Rows = Pick<TestDatabase, "rows">;

const PASSWORD = "a password of some length";
/** As Better Auth stores it: hashing it anew takes a tenth of a second. */
const PASSWORD_HASH =
  "228d743e4adbf87dc12e342bc47547f0:99a807ca13ccea6a1df04ab254d918d8f5fd642e5b8b8c38066afc7812c30df94c1f5fbfc5b4dcb49edf561db92ddcb382ad5b4e7f5d29fa533a2edd66953816";

let people = 0;

/**
 * Creates a user with a password and a session, as signing up does. @param options.isHttps of the server's
 * public URL
 */
export async function createUser(
  test: Rows,
  name = "Somebody New",
  options: { id?: string; role?: "user" | "admin"; isHttps?: boolean } = {},
): Promise<TestUser> {
  people += 1;
  const email = `person-${process.pid}-${people}@example.com`;
  const { id = randomUUID(), role = "user" } = options;
  await test.rows(
    `with person as (insert into "user" (id, name, email, role) values ($1, $2, $3, $4) returning id)
     insert into account (id, user_id, account_id, provider_id, password) select id, id, id, 'credential', $5 from person`,
    [id, name, email, role, PASSWORD_HASH],
  );
  return { id, email, password: PASSWORD, name, cookie: await createSession(test, id, options) };
}

/** Creates an administrator with a password and a session. */
export function createAdmin(test: Rows): Promise<TestUser> {
  return createUser(test, "An Administrator", { role: "admin" });
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

/** Signs an existing user in. @returns the cookie */
export async function createSession(test: Rows, userId: string, { isHttps = false } = {}): Promise<string> {
  const token = randomUUID();
  await test.rows(
    "insert into session (id, user_id, token, expires_at) values ($3, $1, $2, now() + interval '7 days')",
    [userId, token, randomUUID()],
  );
  const secret = serverVariables("").AUTH_SECRET as string;
  const signature = createHmac("sha256", secret).update(token).digest("base64");
  return `${isHttps ? "__Host-" : ""}better-auth.session_token=${encodeURIComponent(`${token}.${signature}`)}`;
}
