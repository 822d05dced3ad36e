import { z } from "zod";
import type { DocumentedAuthRoute } from "../../domain/callers/documented-route.ts";
import { AUTH_PATH } from "./auth-path.ts";
import { statusOfCode } from "./responses.ts";
import { AUTH_ROUTES, type AuthRoute } from "./route-list.ts";

const MATCHERS = AUTH_ROUTES.map((route) => ({
  route,
  pattern: new RegExp(`^${route.path.replace(":token", "[A-Za-z0-9_-]{1,64}")}$`),
}));

/**
 * The route for a method and path (`/api/auth/...`), the methods allowed on the path when there is none for
 * this method, or `null` for an unknown path.
 */
export function authRoute(
  method: string,
  path: string,
  { confirmation }: { confirmation: boolean },
): AuthRoute | { allow: string } | null {
  if (!path.startsWith(`${AUTH_PATH}/`)) return null;
  const routePath = path.slice(AUTH_PATH.length);
  const matching = MATCHERS.filter(
    ({ route, pattern }) => pattern.test(routePath) && (confirmation || !route.confirmation),
  ).map(({ route }) => route);
  if (matching.length === 0) return null;
  return (
    matching.find((route) => route.method === method) ?? {
      allow: matching.map((route) => route.method).join(", "),
    }
  );
}

/** Every route for the document of the API. */
export function documentedAuthRoutes(): DocumentedAuthRoute[] {
  return AUTH_ROUTES.map((route) => {
    const { method, endpoint, summary, scope, body, query, output, codes, needsSession } = route;
    const isRequired = codes.includes("UNAUTHORIZED");
    return {
      method,
      summary,
      scope,
      body,
      query,
      output,
      path: route.path.replace(":token", "{token}"),
      operationId: `auth${endpoint[0]?.toUpperCase()}${endpoint.slice(1)}`,
      description: descriptionOf(route),
      session: isRequired ? "required" : needsSession ? "optional" : "none",
      pathParams: route.path.includes(":token") ? RESET_TOKEN : null,
      codes: Map.groupBy([...new Set([...codes, ...commonCodes(route)])], statusOfCode),
    };
  });
}

const RESET_TOKEN = z.object({ token: z.string().describe("The token in the mail.") });

function descriptionOf({ scope, confirmation, hidesAccounts }: AuthRoute): string {
  return [
    `Limited by \`${scope}\` per ${scope === "api" ? "user; without a session per " : ""}client address.`,
    hidesAccounts ? "The answer does not tell whether there is such an account." : "",
    confirmation ? "Served only with `REQUIRE_EMAIL_CONFIRMATION=on`." : "",
  ]
    .filter((sentence) => sentence !== "")
    .join(" ");
}

/** The codes that any such route may have. */
function commonCodes({ method, body, confirmation }: AuthRoute): string[] {
  return [
    "BAD_REQUEST",
    ...(method === "POST" ? ["FORBIDDEN"] : []),
    ...(body === null ? [] : ["PAYLOAD_TOO_LARGE"]),
    ...(confirmation ? ["NOT_FOUND"] : []),
    "TOO_MANY_REQUESTS",
    "INTERNAL_SERVER_ERROR",
    "SERVICE_UNAVAILABLE",
  ];
}
