import { TRPCError } from "@trpc/server";
import type { Context } from "hono";
import superjson from "superjson";
import type { Refusal } from "../domain/refusals/refusal.ts";
import { withErrorCode } from "./auth.ts";
import { contentType, shownError } from "./graphql-error.ts";
import { shapeOf } from "./rpc/errors.ts";
import { wellFormedPath } from "./versions/version-path.ts";

/**
 * A refusal of a request that has not reached its surface, with the body that clients of that surface read.
 * @param response the refusal as a REST response
 */
export async function surfaceErrorResponse(
  c: Context,
  refusal: Refusal,
  response: Response,
): Promise<Response> {
  const path = wellFormedPath(c.req.path);
  if (path === "/api/trpc" || path.startsWith("/api/trpc/")) {
    const error = new TRPCError({ code: "INTERNAL_SERVER_ERROR", cause: refusal });
    return Response.json({ error: superjson.serialize(shapeOf(error, null)) }, response);
  }
  if (path === "/api/graphql") {
    const shown = Response.json({ errors: [shownError(refusal)] }, response);
    shown.headers.set("content-type", contentType(c));
    return shown;
  }
  return withErrorCode(path, response);
}
