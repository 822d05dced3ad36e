import { DatabaseUnavailable } from "../store/database.ts";
import { refusal, translated, unavailable } from "./answers.ts";
import type { Auth } from "./auth.ts";
import type { ConfiguredBetterAuth } from "./better-auth.ts";
import { innermost, type Log } from "./log.ts";
import { presentedKey } from "./presented-key.ts";
import { readRequestBody } from "./read-request-body.ts";
import type { RequestScope, RequestScopes } from "./request-scope.ts";
import { authRoute } from "./routes.ts";
import type { SessionLookUp } from "./session-look-up.ts";

export type HandleOptions = {
  betterAuth: ConfiguredBetterAuth;
  scopes: RequestScopes;
  sessions: SessionLookUp;
  appUrl: string;
  requireConfirmation: boolean;
  log: Log;
};

/** Lets Better Auth answer what the product uses of it, from a request that holds nothing but what that needs. */
export function handleWith(options: HandleOptions): Auth["handle"] {
  const { betterAuth, scopes, log } = options;
  return async (request, address) => {
    const { pathname } = new URL(request.url);
    const route = authRoute(request.method, pathname, { confirmation: options.requireConfirmation });
    if (route === null) return refusal(404, "Not found");
    if ("allow" in route) return refusal(405, "Method not allowed", { allow: route.allow });

    const read = route.body ? await readRequestBody(request, route.body) : { body: null };
    if ("error" in read) return refusal(read.status, read.error);
    const scope: RequestScope = { address, failure: null };
    try {
      const withCookie =
        !presentsKey(request) && (!route.needsSession || !(await isOfBanned(request, options.sessions)));
      const inner = innerRequest(request, read.body, { appUrl: options.appUrl, withCookie });
      const response = await scopes.run(scope, () => betterAuth.handler(inner));
      const answer = await translated(response, scope.failure);
      if (answer.status >= 500) log.error({ err: scope.failure, path: logged(pathname) }, FAILED);
      return answer;
    } catch (error) {
      log.error({ err: innermost(error), path: logged(pathname) }, FAILED);
      const isAway = error instanceof DatabaseUnavailable || scope.failure instanceof DatabaseUnavailable;
      return isAway ? unavailable() : refusal(500, "Internal server error");
    }
  };
}

const FAILED = "a request about an account failed";

/** Without the token at the end of a link that sets a new password. */
function logged(path: string): string {
  return path.replace(/(\/reset-password)\/.*/, "$1");
}

/** An API key never counts together with a cookie. */
function presentsKey({ headers }: Request): boolean {
  return presentedKey({ header: (name) => headers.get(name) ?? undefined }) !== undefined;
}

async function isOfBanned({ headers }: Request, sessions: SessionLookUp): Promise<boolean> {
  return (await sessions.find(headers.get("cookie") ?? ""))?.isBanned ?? false;
}

const PASSED_ON = ["user-agent", "sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest"];

function innerRequest(
  request: Request,
  body: Record<string, unknown> | null,
  { appUrl, withCookie }: { appUrl: string; withCookie: boolean },
): Request {
  const { pathname, search } = new URL(request.url);
  const headers = new Headers();
  for (const name of withCookie ? [...PASSED_ON, "cookie"] : PASSED_ON) {
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
 * Better Auth wants an `Origin` wherever there is a cookie; the contract serves who sends none and is no browser. Left
 * out, so that it refuses, is the origin of a request that its browser says comes from another site.
 */
function originOf({ headers }: Request, appUrl: string): string | null {
  const site = headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin" && site !== "none") return null;
  return headers.get("origin") ?? new URL(appUrl).origin;
}
