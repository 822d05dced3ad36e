import { type Context, Hono } from "hono";
import type { DocumentedAuthRoute } from "../domain/callers/documented-route.ts";
import type { HonoEnv } from "../http/hono-env.ts";
import { addLimitHeaders } from "../http/limit-headers.ts";
import { readJson } from "../http/read-json.ts";
import type { Scope } from "../limits/policies.ts";
import type { Limits } from "../limits/rate-limit.ts";
import { type Call, charge } from "../operations/call.ts";
import {
  addressOf,
  authenticate,
  type CallerContext,
  checkKey,
  rejectCrossOriginWrite,
} from "./authenticate.ts";
import { unversionedUrl } from "./versions/version-path.ts";

export type AuthRoutesOptions = {
  /** The scope a request is charged to, by the client's address, `api` by the user; `null`: not limited. */
  scopeOf(method: string, path: string): Scope | null;
  handle(request: Request, address: string): Promise<Response>;
  documentedRoutes(): readonly DocumentedAuthRoute[];
};

/**
 * `/api/auth/*`: Better Auth's paths that the product uses, limited before anything is read.
 */
export function authRoutes(
  options: AuthRoutesOptions,
  limits: Limits,
  callers: CallerContext,
): Hono<HonoEnv> {
  const routes = new Hono<HonoEnv>();
  routes.all("/*", async (c) => {
    // Checked although most routes need no session: a foreign page must not sign anybody in either.
    rejectCrossOriginWrite(c, callers, { byCookie: true });
    const address = addressOf(c, callers);
    const scope = options.scopeOf(c.req.method, c.req.path);
    // As everywhere, `api` is charged to the user: an office may share an address.
    const call: Call =
      scope === "api"
        ? await authenticate(c, callers)
        : { caller: { kind: "anonymous", address }, charges: [] };
    c.set("charges", call.charges);
    await checkKey(c, callers, call.charges);
    if (scope !== null) await charge(scope, limits, call);

    const response = await options.handle(await forwarded(c), address);
    addLimitHeaders(c, call.charges);
    return c.newResponse(response.body, response);
  });
  return routes;
}

/** Adds to an error below `/api/auth` what Better Auth's own client reads: `message` and `code`. */
export async function withErrorCode(path: string, response: Response): Promise<Response> {
  if (!path.startsWith("/api/auth/")) return response;
  const { error } = (await response.json()) as { error: string };
  const code = ERROR_CODES[response.status] ?? "BAD_REQUEST";
  return Response.json({ error, message: error, code }, response);
}

const ERROR_CODES: Record<number, string> = {
  401: "UNAUTHORIZED",
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  413: "PAYLOAD_TOO_LARGE",
  429: "TOO_MANY_REQUESTS",
  500: "INTERNAL_SERVER_ERROR",
  503: "SERVICE_UNAVAILABLE",
};

/** The request without its version prefix, with its body parsed. */
async function forwarded(c: Context<HonoEnv>): Promise<Request> {
  // `Request` throws on TRACE; OPTIONS is not served here either.
  const method = c.req.method === "TRACE" ? "OPTIONS" : c.req.method;
  const url = unversionedUrl(c.req.url);
  const headers = new Headers(c.req.raw.headers);
  if (method !== "POST") return new Request(url, { method, headers });
  headers.set("content-type", "application/json");
  return new Request(url, { method, headers, body: JSON.stringify(await readJson(c.env.incoming)) });
}
