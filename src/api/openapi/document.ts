import type { DocumentedAuthRoute } from "../../domain/callers/documented-route.ts";
import type { Route } from "../rest/route.ts";
import { authPaths } from "./auth-paths.ts";
import { AUTH_ERROR, errorSchema, HEADERS, RESPONSES, SECURITY } from "./components.ts";
import { outboundWebhooks } from "./outbound-webhooks.ts";
import { routeObject } from "./route-object.ts";
import { type JsonSchema, Schemas } from "./schemas.ts";
import { SYSTEM_PATHS } from "./system-paths.ts";
import { AUTH_TAG, SYSTEM_TAG, tagOf } from "./tags.ts";

export type DocumentOptions = {
  routes: readonly Route[];
  authRoutes: readonly DocumentedAuthRoute[];
  /** The version to describe, and its path prefix: `v1`. */
  version: string;
  /** The public origin, without a trailing slash. */
  appUrl: string;
};

/** The OpenAPI 3.1 document of the REST API, generated from the operations. */
export function openApiDocument({ routes, authRoutes, version, appUrl }: DocumentOptions): JsonSchema {
  const schemas = new Schemas();
  const responses: Record<string, JsonSchema> = {};
  const routePaths: Record<string, JsonSchema> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    const method = route.method.toLowerCase();
    routePaths[path] = { ...routePaths[path], [method]: routeObject(route, version, { schemas, responses }) };
  }
  const paths = { ...routePaths, ...authPaths(authRoutes, schemas), ...SYSTEM_PATHS };
  return {
    openapi: "3.1.0",
    info: {
      title: "Tollgate",
      version: version.slice(1),
      description: DESCRIPTION,
      contact: { name: "Tollgate", url: appUrl },
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: `${appUrl}/api/${version}` }],
    security: [{ session: [] }, { bearer: [] }, { apiKey: [] }],
    tags: [...new Set(routes.map(tagOf)), AUTH_TAG, SYSTEM_TAG],
    paths,
    webhooks: outboundWebhooks(schemas),
    components: {
      securitySchemes: SECURITY,
      headers: HEADERS,
      responses: { ...responses, ...usedResponses(paths) },
      schemas: { Error: errorSchema(version), AuthError: AUTH_ERROR, ...schemas.components },
    },
  };
}

const DESCRIPTION = `Every request is authenticated, counted against an exact sliding-window limit, validated and then executed, in this order.
Browsers send the session cookie, programs an API key. A service key names the user that it acts for (\`user\` or
\`externalId\`) and reaches only what its permissions allow.
Lists are paginated: follow \`nextCursor\` until it is null.`;

/** Those that some path uses. */
function usedResponses(paths: Record<string, JsonSchema>): JsonSchema {
  const text = JSON.stringify(paths);
  const used = Object.entries(RESPONSES).filter(([name]) => text.includes(`#/components/responses/${name}"`));
  return Object.fromEntries(used);
}
