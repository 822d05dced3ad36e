import type { Context } from "hono";

/**
 * Adds headers to an existing response. `c.header` would copy it and lose the fast path of
 * @hono/node-server.
 * @param add called again on a copy when it throws: fetched responses are immutable
 */
export function addHeaders(c: Context, add: (headers: Headers) => void): void {
  try {
    add(c.res.headers);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    c.res = new Response(c.res.body, c.res);
    add(c.res.headers);
  }
}
