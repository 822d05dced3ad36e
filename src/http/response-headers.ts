import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { jsonText } from "./json-text.ts";

/**
 * The headers common to all API responses, collected before the response is created. Hono's and undici's
 * `Headers` cost a microsecond per header; a plain record avoids both.
 */
type ResponseHeaders = Record<string, string>;

/** This request's header record; middleware adds what belongs on every response. */
export function responseHeaders(c: Context): ResponseHeaders {
  const head: ResponseHeaders = c.get("head") ?? {};
  c.set("head", head);
  return head;
}

/** Whether the response already has all headers: otherwise each middleware adds its own. */
export function headersApplied(c: Context): boolean {
  return c.get("headersApplied") === true;
}

/**
 * `Set-Cookie` may occur several times, which a plain record cannot hold: such a response takes the slower
 * path.
 */
export function addCookie(c: Context, cookie: string): void {
  c.header("set-cookie", cookie, { append: true });
  c.set("hasCookies", true);
}

export function hasCookies(c: Context): boolean {
  return c.get("hasCookies") === true;
}

/** A JSON response with all headers; `more` overrides them. Headers set with `c.header` are not included. */
export function answerJson(
  c: Context,
  body: unknown,
  status: ContentfulStatusCode,
  more: ResponseHeaders = {},
): Response {
  return answerText(c, jsonText(body), status, { "content-type": "application/json", ...more });
}

/** The same for text; `more` contains its content type. */
export function answerText(
  c: Context,
  text: string,
  status: ContentfulStatusCode,
  more: ResponseHeaders,
): Response {
  if (hasCookies(c)) return c.body(text, status, more);
  c.set("headersApplied", true);
  return new Response(text, { status, headers: { ...responseHeaders(c), ...more } });
}
