import { negotiateLocale } from "../../domain/negotiate-locale.ts";
import type { Auth } from "../auth.ts";
import type { ConfiguredBetterAuth } from "../better-auth.ts";
import { presentedKey } from "../callers/presented-key.ts";
import { readRequestBody } from "./read-request-body.ts";
import { refusalOfQuery } from "./refusal-of-query.ts";
import { errorResponse, refusalResponse } from "./responses.ts";
import type { AuthRoute } from "./route-list.ts";
import { authRoute } from "./routes.ts";
import { type ServeDeps, serveRoute } from "./serve-route.ts";

export type HandleOptions = ServeDeps & {
  betterAuth: ConfiguredBetterAuth;
  requireConfirmation: boolean;
  ownOrigins: () => readonly string[];
};

/** Passes the routes that the product uses on to Better Auth, in a request reduced to what they need. */
export function createHandler(options: HandleOptions): Auth["handle"] {
  const { betterAuth, appUrl } = options;
  return async (request, address) => {
    const { pathname } = new URL(request.url);
    const route = authRoute(request.method, pathname, { confirmation: options.requireConfirmation });
    if (route === null) return refusalResponse({ reason: "not_found", params: { resource: "endpoint" } });
    if ("allow" in route) return withAllow(refusalResponse({ reason: "method_not_allowed" }), route.allow);

    const requestBody = route.body ? await readRequestBody(request, route.body) : { body: null };
    if ("refused" in requestBody) return requestBody.refused;
    const search = queryOf(request, route);
    const unusable = route.query && refusalOfQuery(search, route.query);
    if (unusable) return refusalResponse(unusable);
    const cookie = presentsKey(request) ? null : request.headers.get("cookie");
    const response = await serveRoute(options, {
      route,
      body: requestBody.body,
      cookie,
      address,
      locale: negotiateLocale(request.headers.get("accept-language") ?? undefined),
      respond: (withCookie) =>
        betterAuth.handler(
          innerRequest(request, {
            body: requestBody.body,
            search,
            appUrl,
            cookie: withCookie ? cookie : null,
          }),
        ),
    });
    return leadsElsewhere(response, options)
      ? errorResponse(403, "Invalid callbackURL", "INVALID_CALLBACK_URL")
      : response;
  };
}

/**
 * Better Auth checks a `callbackURL` as it was sent, but may redirect to it without its dot segments:
 * `/.//evil.example` becomes `//evil.example`, which names another host.
 */
function leadsElsewhere(
  { headers }: Response,
  { appUrl, ownOrigins }: Pick<HandleOptions, "appUrl" | "ownOrigins">,
): boolean {
  const location = headers.get("location");
  if (location === null) return false;
  const { origin } = new URL(location, appUrl);
  return origin !== appUrl && !ownOrigins().includes(origin);
}

function withAllow(response: Response, allow: string): Response {
  response.headers.set("allow", allow);
  return response;
}

/** A request that presents an API key never uses its cookie. */
function presentsKey({ headers }: Request): boolean {
  return presentedKey({ header: (name) => headers.get(name) ?? undefined }) !== undefined;
}

const FORWARDED_HEADERS = ["user-agent", "sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest"];

type InnerRequestParts = {
  body: Record<string, unknown> | null;
  search: string;
  appUrl: string;
  cookie: string | null;
};

function innerRequest(request: Request, { body, search, appUrl, cookie }: InnerRequestParts): Request {
  const { pathname } = new URL(request.url);
  const headers = new Headers(cookie === null ? {} : { cookie });
  for (const name of FORWARDED_HEADERS) {
    const value = request.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  const origin = originOf(request, appUrl);
  if (origin !== null) headers.set("origin", origin);
  if (body) headers.set("content-type", "application/json");
  return new Request(new URL(pathname + search, appUrl), {
    method: request.method,
    headers,
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
}

/** Mail programs cut links: without this, a browser would show JSON. */
function queryOf({ method, url, headers }: Request, { page }: AuthRoute): string {
  if (method !== "GET") return "";
  const { search, searchParams } = new URL(url);
  const [token, callbackURL] = [searchParams.get("token") ?? "", searchParams.get("callbackURL") ?? ""];
  const isNavigation = headers.get("accept")?.includes("text/html");
  return isNavigation && page?.startsWith(callbackURL)
    ? `?${new URLSearchParams({ token, callbackURL: page })}`
    : search;
}

/**
 * Better Auth requires an `Origin` with a cookie, but the contract serves clients that are no browser and
 * send none. A request that its browser marks as cross-site gets none, so that Better Auth refuses it.
 */
function originOf({ headers }: Request, appUrl: string): string | null {
  const site = headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin" && site !== "none") return null;
  return headers.get("origin") ?? appUrl;
}
