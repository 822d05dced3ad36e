import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";

/**
 * The headers that every answer of the API has, put together before it is made. Hono's and undici's `Headers` cost a
 * microsecond a header; an answer that is given all of them in one plain record goes past both.
 */
type ResponseHeaders = Record<string, string>;

/** This request's, to be added to by whoever has something to say on every answer. */
export function responseHeaders(c: Context): ResponseHeaders {
  const head: ResponseHeaders = c.get("head") ?? {};
  c.set("head", head);
  return head;
}

/** Whether the answer has been given the whole head: else each adds what is its own. */
export function headersApplied(c: Context): boolean {
  return c.get("isWhole") === true;
}

/** There may be several of them, which a plain record cannot hold: the answer takes the slower way. */
export function addCookie(c: Context, cookie: string): void {
  c.header("set-cookie", cookie, { append: true });
  c.set("hasCookies", true);
}

export function hasCookies(c: Context): boolean {
  return c.get("hasCookies") === true;
}

/** An answer in JSON with the whole head; `more` wins over it. Other headers that `c.header` has been given are left out. */
export function answerJson(
  c: Context,
  body: unknown,
  status: ContentfulStatusCode,
  more: ResponseHeaders = {},
): Response {
  return answerText(c, JSON.stringify(body), status, { "content-type": "application/json", ...more });
}

/** The same of what is text already; `more` names its type. */
export function answerText(
  c: Context,
  text: string,
  status: ContentfulStatusCode,
  more: ResponseHeaders,
): Response {
  if (hasCookies(c)) return c.body(text, status, more);
  c.set("isWhole", true);
  return new Response(text, { status, headers: { ...responseHeaders(c), ...more } });
}
