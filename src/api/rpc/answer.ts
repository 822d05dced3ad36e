import type { TRPCError } from "@trpc/server";
import type { Context } from "hono";
import superjson from "superjson";
import type { HonoEnv } from "../../http/hono-env.ts";
import { limitHeaders } from "../../http/limit-headers.ts";
import { hasCookies } from "../../http/response-headers.ts";
import { shapeOf } from "./errors.ts";

const RETRY_AFTER_SECONDS = "5";

/** One error for all calls of a request, with the status that it has, also for those who expect a stream. */
export function refusalOf(error: TRPCError): Response {
  const shape = shapeOf(error, null);
  return Response.json({ error: superjson.serialize(shape) }, { status: shape.data.httpStatus });
}

/**
 * Adds what the context has for the answer, and what the limits say. tRPC's own is kept: a copy of it would cost the adapter
 * its quick way out.
 */
export function finished(c: Context<HonoEnv>, answer: Response): Response {
  const { headers, status } = answer;
  // tRPC leaves the type out when it refuses a request that it cannot read.
  if (!headers.get("content-type")?.startsWith("application/"))
    headers.set("content-type", "application/json");
  if (hasCookies(c)) for (const [name, value] of c.newResponse(null).headers) headers.append(name, value);
  const limits = limitHeaders(c.get("charges") ?? []);
  for (const [name, value] of Object.entries(limits)) headers.set(name, value);
  for (const [name, value] of Object.entries(statusHeaders(status))) headers.set(name, value);
  return answer;
}

/** The headers that go with a status. */
export function statusHeaders(status: number): Record<string, string> {
  if (status === 401) return { "www-authenticate": 'Bearer realm="tollgate"' };
  return status === 503 ? { "retry-after": RETRY_AFTER_SECONDS } : {};
}
