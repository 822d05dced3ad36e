import type { Credentials } from "../auth.ts";

/**
 * The API key that a request presents. `undefined`: none, so that the cookie is used. `null`: a malformed key
 * or two different ones, and the cookie is not used either.
 */
export function presentedKey(credentials: Pick<Credentials, "header">): string | null | undefined {
  const presented = [
    bearerOf(credentials.header("authorization")),
    credentials.header("x-api-key")?.trim(),
  ].filter((key) => key !== undefined);
  return presented.every((key) => key === presented[0]) ? presented[0] : null;
}

/** Other schemes, such as a proxy's `Basic`, are ignored. */
function bearerOf(authorization: string | undefined): string | null | undefined {
  if (authorization === undefined) return undefined;
  const [scheme, token, ...more] = authorization.trim().split(/\s+/);
  if (scheme?.toLowerCase() === "bearer") return token !== undefined && more.length === 0 ? token : null;
  return scheme && /^tgs?_/.test(scheme) ? null : undefined;
}
