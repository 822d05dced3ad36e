import { getPath } from "hono/utils/url";

/** Matches the raw URL: an encoded prefix is not a version, and `isMalformed` rejects it. */
const PREFIXED = /^\/api\/(v\d+)\/(?=[^?#])/;

/** A second version prefix after the first was removed: plain, encoded, doubled or in capitals. */
const SECOND_PREFIX = /^\/api\/+v\d+(?:\/|$)/i;

/**
 * For Hono's `getPath`: the decoded path without its version prefix, which is removed at most once. The
 * request itself is unchanged, so that the signed body stays intact.
 */
export function versionedPath(request: { url: string }): string {
  const path = getPath(request as Request);
  const prefix = PREFIXED.exec(afterOrigin(request.url));
  // The prefix has no encoded characters: its length is the same in the decoded path.
  return prefix ? `/api/${path.slice(prefix[0].length)}` : path;
}

/** The path as the client sent it. */
export type RequestTarget = {
  /** `v` and digits, also of an unknown version; `null`: the path has none. */
  version: string | null;
  /** Path below `/api/` and query as sent, without the version; `null`: not below `/api/`. */
  rest: string | null;
};

export function readTarget(url: string): RequestTarget {
  const target = afterOrigin(url);
  const prefix = PREFIXED.exec(target);
  if (prefix) return { version: prefix[1] as string, rest: target.slice(prefix[0].length) };
  return { version: null, rest: target.startsWith("/api/") ? target.slice("/api/".length) : null };
}

/** Whether a path still has a version prefix. @param path as returned by `versionedPath` */
export function isMalformed(path: string): boolean {
  return SECOND_PREFIX.test(path);
}

/** A malformed path without its version. */
export function wellFormedPath(path: string): string {
  return path.replace(SECOND_PREFIX, "/api/");
}

/** The whole URL without the version, for libraries that read the URL from the request. */
export function unversionedUrl(url: string): string {
  const start = originLength(url);
  return url.slice(0, start) + url.slice(start).replace(PREFIXED, "/api/");
}

function afterOrigin(url: string): string {
  return url.slice(originLength(url));
}

/** Hono starts the path at the same place. */
function originLength(url: string): number {
  const start = url.indexOf("/", url.indexOf(":") + 4);
  return start === -1 ? url.length : start;
}
