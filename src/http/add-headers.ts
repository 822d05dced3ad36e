import type { Context } from "hono";

/**
 * Adds headers to an answer that exists. `c.header` would copy the answer, which costs the adapter its quick way out.
 * @param add is called a second time when the first throws at once, as it does on an answer that was fetched elsewhere
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
