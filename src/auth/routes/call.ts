import { parseSetCookieHeader, toCookieOptions } from "better-auth/cookies";
import type { AccountCallResult } from "../../domain/callers/account-call.ts";
import { negotiateLocale } from "../../domain/negotiate-locale.ts";
import { Refusal } from "../../domain/refusals/refusal.ts";
import type { Auth } from "../auth.ts";
import { AUTH_PATH } from "./auth-path.ts";
import type { HandleOptions } from "./handle.ts";
import { parseBody } from "./read-request-body.ts";
import { RefusalResponse, refusalResponse } from "./responses.ts";
import { authRoute } from "./routes.ts";
import { serveRoute } from "./serve-route.ts";

type ServerApi = Record<
  string,
  (context: { body?: unknown; query?: unknown; headers: Headers; asResponse: true }) => Promise<Response>
>;

/**
 * For server actions of the pages, whose origin has been checked: Better Auth's server API, by the same rules
 * as HTTP.
 */
export function createCall(options: HandleOptions): Auth["call"] {
  const api = options.betterAuth.api as unknown as ServerApi;
  return async ({ method = "POST", path, body, header, address }) => {
    const route = authRoute(method, AUTH_PATH + path, { confirmation: options.requireConfirmation });
    if (route === null || "allow" in route)
      return resultOf(refusalResponse({ reason: "not_found", params: { resource: "endpoint" } }));
    const schema = route.body ?? route.query;
    const parsed = schema ? parseBody(body, schema) : { body: null };
    if (parsed instanceof Refusal) return resultOf(refusalResponse(parsed));
    const cookie = header("cookie") ?? null;
    const response = await serveRoute(options, {
      route,
      body: route.body ? parsed.body : null,
      cookie,
      address,
      locale: negotiateLocale(header("accept-language")),
      respond: async (withCookie) => {
        const headers = new Headers({ "user-agent": header("user-agent") ?? "" });
        if (withCookie && cookie !== null) headers.set("cookie", cookie);
        const call = api[route.endpoint];
        if (!call) throw new Error(`Better Auth has no endpoint ${route.endpoint}`);
        const input = route.body ? { body: parsed.body } : route.query ? { query: parsed.body } : {};
        return call({ ...input, headers, asResponse: true });
      },
    });
    return resultOf(response);
  };
}

async function resultOf(response: Response): Promise<AccountCallResult> {
  const setCookies = response.headers.get("set-cookie");
  return {
    status: response.status,
    refusal: response instanceof RefusalResponse ? response.refusal : null,
    body: (await response.json().catch(() => null)) as AccountCallResult["body"],
    cookies: [...(setCookies === null ? [] : parseSetCookieHeader(setCookies))].map(([name, cookie]) => ({
      name,
      value: cookie.value,
      options: toCookieOptions(cookie),
    })),
  };
}
