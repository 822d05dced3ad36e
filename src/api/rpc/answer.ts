import type { TRPCError } from "@trpc/server";
import type { Context } from "hono";
import superjson from "superjson";
import type { HonoEnv } from "../../http/hono-env.ts";
import { limitHeaders } from "../../http/limit-headers.ts";
import { hasCookies } from "../../http/response-headers.ts";
import { statusHeaders } from "../../http/status-of.ts";
import { shapeOf } from "./errors.ts";

/** The same error for all calls of a request, with its status also for streaming clients. */
export function refusalOf(error: TRPCError): Response {
  const shape = shapeOf(error, null);
  return Response.json({ error: superjson.serialize(shape) }, { status: shape.data.httpStatus });
}

/**
 * Adds the context's headers and the limits' to tRPC's response in place: a copy would lose the fast path of
 * @hono/node-server.
 */
export function finished(c: Context<HonoEnv>, response: Response): Response {
  const { headers, status } = response;
  // tRPC omits the type when it rejects an unreadable request.
  if (!headers.get("content-type")?.startsWith("application/"))
    headers.set("content-type", "application/json");
  if (hasCookies(c)) for (const [name, value] of c.newResponse(null).headers) headers.append(name, value);
  const limits = limitHeaders(c.get("charges") ?? []);
  for (const [name, value] of Object.entries(limits)) headers.set(name, value);
  for (const [name, value] of Object.entries(statusHeaders(status))) headers.set(name, value);
  return response;
}
