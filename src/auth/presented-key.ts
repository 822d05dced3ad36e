import type { Credentials } from "./auth.ts";

/**
 * The API key that a request presents, as text. `undefined`: none, the cookie counts. `null`: something that is meant
 * to be one and cannot be, or two that differ; the cookie does not count either.
 */
export function presentedKey(credentials: Pick<Credentials, "header">): string | null | undefined {
  const presented = [
    bearerOf(credentials.header("authorization")),
    credentials.header("x-api-key")?.trim(),
  ].filter((key) => key !== undefined);
  return presented.every((key) => key === presented[0]) ? presented[0] : null;
}

/** Another scheme, such as a proxy's own `Basic`, is not meant for us. */
function bearerOf(authorization: string | undefined): string | null | undefined {
  if (authorization === undefined) return undefined;
  const [scheme, token, ...more] = authorization.trim().split(/\s+/);
  if (scheme?.toLowerCase() === "bearer") return token !== undefined && more.length === 0 ? token : null;
  return scheme?.startsWith("tg_") ? null : undefined;
}
