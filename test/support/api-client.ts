import type { TestDatabase } from "./database.ts";

export type ApiAnswer = {
  status: number;
  headers: Headers;
  /** Parsed when it says that it is JSON, else `undefined`. */
  // biome-ignore lint/suspicious/noExplicitAny: each test knows what it asked for
  body: any;
  text: string;
};

export type ApiRequest = {
  /** Sent as JSON, unless it is text or bytes already. */
  body?: unknown;
  cookie?: string;
  key?: string;
  headers?: Record<string, string>;
};

/** One request, as a client without a browser sends it. @param path from `/api` on */
export async function ask(
  serverUrl: string,
  method: string,
  path: string,
  { body, cookie, key, headers = {} }: ApiRequest = {},
): Promise<ApiAnswer> {
  const answer = await fetch(`${serverUrl}${path}`, {
    method,
    redirect: "manual",
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(cookie === undefined ? {} : { cookie }),
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...headers,
    },
    ...(body === undefined
      ? {}
      : {
          body:
            typeof body === "string" || body instanceof Uint8Array
              ? (body as Uint8Array<ArrayBuffer>)
              : JSON.stringify(body),
        }),
  });
  const text = await answer.text();
  const isJson = answer.headers.get("content-type")?.startsWith("application/json") ?? false;
  return {
    status: answer.status,
    headers: answer.headers,
    body: isJson && text !== "" ? JSON.parse(text) : undefined,
    text,
  };
}

export type SignedUp = { id: string; email: string; password: string; name: string; cookie: string };

let people = 0;

/** Somebody new, signed up over HTTP and signed in. */
export async function signedUp(serverUrl: string, name = "Somebody New"): Promise<SignedUp> {
  people += 1;
  const email = `person-${process.pid}-${people}@example.com`;
  const password = "a password of some length";
  const answer = await ask(serverUrl, "POST", "/api/auth/sign-up/email", { body: { name, email, password } });
  if (answer.status !== 200) throw new Error(`sign-up: ${answer.status} ${answer.text}`);
  return { id: answer.body.user.id, email, password, name, cookie: cookieOf(answer) };
}

/** The same, as an administrator. */
export async function administrator(serverUrl: string, test: Pick<TestDatabase, "rows">): Promise<SignedUp> {
  const person = await signedUp(serverUrl, "An Administrator");
  await test.rows(`update "user" set role = 'admin' where id = $1`, [person.id]);
  return person;
}

/** What a browser would send back of the cookies that were set. */
export function cookieOf(answer: Pick<ApiAnswer, "headers">): string {
  return answer.headers
    .getSetCookie()
    .map((cookie) => cookie.split(";")[0])
    .join("; ");
}

/** Limits that do not come into a test's way. */
export const GENEROUS = Object.fromEntries(
  [
    "AUTH_SIGN_IN",
    "AUTH_SIGN_UP",
    "AUTH_PASSWORD",
    "AI_CHAT",
    "BILLING",
    "ADMIN",
    "GRAPHQL",
    "PLUGIN",
    "API",
    "SETTINGS",
    "RPC",
  ].map((scope) => [`RATE_LIMIT_${scope}`, "100000/60"]),
);
