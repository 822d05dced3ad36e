import { getPath } from "hono/utils/url";

/** Of the address as it came in: an encoded prefix is none, and is refused by `isMalformed`. */
const PREFIXED = /^\/api\/(v\d+)\/(?=[^?#])/;

/** What is still there when a well-formed prefix has been taken off: one alone, encoded, doubled, in capitals. */
const LEFT_OVER = /^\/api\/+v\d+(?:\/|$)/i;

/**
 * For Hono's `getPath`: the path that is routed, decoded as Hono does, without its version. Nothing else of the request
 * changes, so that its body is the one that was signed. A prefix is taken off once at most.
 */
export function versionedPath(request: { url: string }): string {
  const path = getPath(request as Request);
  const prefix = PREFIXED.exec(afterOrigin(request.url));
  // No character of the prefix is an encoded one: it is as long in the decoded path.
  return prefix ? `/api/${path.slice(prefix[0].length)}` : path;
}

/** What the client has written, from the path on. */
export type Target = {
  /** `v` and digits, whether or not there is such a version; `null`: the path has none. */
  version: string | null;
  /** Path below `/api/` and query, as they were sent, without the version; `null`: nothing of `/api/`. */
  rest: string | null;
};

export function readTarget(url: string): Target {
  const target = afterOrigin(url);
  const prefix = PREFIXED.exec(target);
  if (prefix) return { version: prefix[1] as string, rest: target.slice(prefix[0].length) };
  return { version: null, rest: target.startsWith("/api/") ? target.slice("/api/".length) : null };
}

/** @param path as it is routed, see `versionedPath` */
export function isMalformed(path: string): boolean {
  return LEFT_OVER.test(path);
}

/** The whole address without the version, for libraries that look at the request's own. */
export function unversionedUrl(url: string): string {
  const start = originLength(url);
  return url.slice(0, start) + url.slice(start).replace(PREFIXED, "/api/");
}

function afterOrigin(url: string): string {
  return url.slice(originLength(url));
}

/** Where Hono, too, takes the path to begin. */
function originLength(url: string): number {
  const start = url.indexOf("/", url.indexOf(":") + 4);
  return start === -1 ? url.length : start;
}
