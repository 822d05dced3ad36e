import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";

/**
 * The headers that every answer of the API has, put together before it is made. Hono's and undici's `Headers` cost a
 * microsecond a header; an answer that is given all of them in one plain record goes past both.
 */
type Head = Record<string, string>;

/** This request's, to be added to by whoever has something to say on every answer. */
export function headOf(c: Context): Head {
  const head: Head = c.get("head") ?? {};
  c.set("head", head);
  return head;
}

/** Whether the answer has been given the whole head: else each adds what is its own. */
export function isWhole(c: Context): boolean {
  return c.get("isWhole") === true;
}

/** There may be several of them, which a plain record cannot hold: the answer takes the slower way. */
export function addCookie(c: Context, cookie: string): void {
  c.header("set-cookie", cookie, { append: true });
  c.set("hasCookies", true);
}

/** An answer in JSON with the whole head; `more` wins over it. Other headers that `c.header` has been given are left out. */
export function answerJson(
  c: Context,
  body: unknown,
  status: ContentfulStatusCode,
  more: Head = {},
): Response {
  if (c.get("hasCookies")) return c.json(body, status, more);
  c.set("isWhole", true);
  const headers = { ...headOf(c), "content-type": "application/json", ...more };
  return new Response(JSON.stringify(body), { status, headers });
}
