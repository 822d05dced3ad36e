import { hash } from "node:crypto";
import type { Context } from "hono";
import { jsonText } from "./json-text.ts";
import { answerText } from "./response-headers.ts";

/** A JSON response with an `ETag`, or 304 when the client has it already; RFC 9110, section 13.1.2. */
export function answerWithEtag(c: Context, body: unknown, headers: Record<string, string>): Response {
  const text = jsonText(body);
  const etag = `"${hash("sha256", text, "base64url")}"`;
  // Kept by the client alone, which asks each time whether it has changed.
  const responseHeaders = { ...headers, etag, "cache-control": "private, no-cache" };
  if (matchesEtag(c.req.header("if-none-match"), etag)) return c.body(null, 304, responseHeaders);
  return answerText(c, text, 200, { "content-type": "application/json", ...responseHeaders });
}

/** Whether an `If-None-Match` names this `ETag`, by the weak comparison. */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === "*") return true;
  return ifNoneMatch.split(",").some((candidate) => candidate.trim().replace(/^W\//, "") === etag);
}
