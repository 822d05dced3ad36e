import { DatabaseUnavailable } from "../store/database.ts";
import type { Auth } from "./auth.ts";
import type { ConfiguredBetterAuth } from "./better-auth.ts";
import { innermost, type Log } from "./log.ts";
import { presentedKey } from "./presented-key.ts";
import { readRequestBody } from "./read-request-body.ts";
import type { RequestScope, RequestScopes } from "./request-scope.ts";
import { errorResponse, translateResponse, unavailableResponse } from "./responses.ts";
import { authRoute } from "./routes.ts";
import type { SessionLookup } from "./session-lookup.ts";

export type HandleOptions = {
  betterAuth: ConfiguredBetterAuth;
  scopes: RequestScopes;
  sessions: SessionLookup;
  appUrl: string;
  requireConfirmation: boolean;
  log: Log;
};

/** Passes the routes that the product uses on to Better Auth, in a request reduced to what they need. */
export function createHandler(options: HandleOptions): Auth["handle"] {
  const { betterAuth, scopes, log } = options;
  return async (request, address) => {
    const { pathname } = new URL(request.url);
    const route = authRoute(request.method, pathname, { confirmation: options.requireConfirmation });
    if (route === null) return errorResponse(404, "Not found");
    if ("allow" in route) return errorResponse(405, "Method not allowed", { allow: route.allow });

    const read = route.body ? await readRequestBody(request, route.body) : { body: null };
    if ("error" in read) return errorResponse(read.status, read.error);
    const scope: RequestScope = { address, failure: null };
    try {
      const withCookie =
        !presentsKey(request) &&
        (!route.needsSession || !(await isSessionOfBannedUser(request, options.sessions)));
      const inner = innerRequest(request, read.body, { appUrl: options.appUrl, withCookie });
      const response = await scopes.run(scope, () => betterAuth.handler(inner));
      const answer = await translateResponse(response, scope.failure);
      if (answer.status >= 500) log.error({ err: scope.failure, path: withoutToken(pathname) }, FAILED);
      return answer;
    } catch (error) {
      log.error({ err: innermost(error), path: withoutToken(pathname) }, FAILED);
      const isAway = error instanceof DatabaseUnavailable || scope.failure instanceof DatabaseUnavailable;
      return isAway ? unavailableResponse() : errorResponse(500, "Internal server error");
    }
  };
}

const FAILED = "an auth request failed";

/** Removes the token from the path of a password reset link. */
function withoutToken(path: string): string {
  return path.replace(/(\/reset-password)\/.*/, "$1");
}

/** A request that presents an API key never uses its cookie. */
function presentsKey({ headers }: Request): boolean {
  return presentedKey({ header: (name) => headers.get(name) ?? undefined }) !== undefined;
}

async function isSessionOfBannedUser({ headers }: Request, sessions: SessionLookup): Promise<boolean> {
  return (await sessions.find(headers.get("cookie") ?? ""))?.isBanned ?? false;
}

const FORWARDED_HEADERS = ["user-agent", "sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest"];

function innerRequest(
  request: Request,
  body: Record<string, unknown> | null,
  { appUrl, withCookie }: { appUrl: string; withCookie: boolean },
): Request {
  const { pathname, search } = new URL(request.url);
  const headers = new Headers();
  for (const name of withCookie ? [...FORWARDED_HEADERS, "cookie"] : FORWARDED_HEADERS) {
    const value = request.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  const origin = originOf(request, appUrl);
  if (origin !== null) headers.set("origin", origin);
  if (body) headers.set("content-type", "application/json");
  return new Request(new URL(pathname + (request.method === "GET" ? search : ""), appUrl), {
    method: request.method,
    headers,
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
}

/**
 * Better Auth requires an `Origin` with a cookie, but the contract serves clients that are no browser and send none.
 * A request that its browser marks as cross-site gets none, so that Better Auth refuses it.
 */
function originOf({ headers }: Request, appUrl: string): string | null {
  const site = headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin" && site !== "none") return null;
  return headers.get("origin") ?? new URL(appUrl).origin;
}
