import { TRPCError } from "@trpc/server";
import type { Context } from "hono";
import superjson from "superjson";
import type { Refusal } from "../domain/refusals/refusal.ts";
import { withErrorCode } from "./auth.ts";
import { shownError } from "./graphql/errors.ts";
import { shapeOf } from "./rpc/errors.ts";

/**
 * A refusal of a request that has not reached its surface, with the body that clients of that surface read.
 * @param response the refusal as a REST response
 */
export async function surfaceErrorResponse(
  c: Context,
  refusal: Refusal,
  response: Response,
): Promise<Response> {
  const { path } = c.req;
  if (path === "/api/trpc" || path.startsWith("/api/trpc/")) {
    const error = new TRPCError({ code: "INTERNAL_SERVER_ERROR", cause: refusal });
    return Response.json({ error: superjson.serialize(shapeOf(error, null)) }, response);
  }
  if (path === "/api/graphql") return Response.json({ errors: [shownError(refusal)] }, response);
  return withErrorCode(c, response);
}
