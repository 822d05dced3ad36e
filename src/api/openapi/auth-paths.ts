import { z } from "zod";
import type { DocumentedAuthRoute } from "../../domain/callers/documented-route.ts";
import { COMMON_HEADERS, COUNTED_HEADERS } from "./components.ts";
import { type Fields, parameter, requestBody } from "./parameters.ts";
import type { JsonSchema, Schemas } from "./schemas.ts";
import { AUTH_TAG } from "./tags.ts";

/** The paths below `/auth`, which are the same in every version. */
export function authPaths(
  routes: readonly DocumentedAuthRoute[],
  schemas: Schemas,
): Record<string, JsonSchema> {
  return Object.fromEntries(
    routes.map((route) => [
      `/auth${route.path}`,
      { [route.method.toLowerCase()]: authRouteObject(route, schemas) },
    ]),
  );
}

function authRouteObject(route: DocumentedAuthRoute, schemas: Schemas): JsonSchema {
  const { operationId, summary, description, pathParams, query, body, codes } = route;
  return {
    operationId,
    summary,
    description,
    tags: [AUTH_TAG.name],
    security: SECURITY[route.session],
    parameters: [...parameters("path", pathParams, schemas), ...parameters("query", query, schemas)],
    ...(body === null ? {} : requestBody(schemas.of(body, "input") as Fields)),
    responses: {
      ...successResponses(route.output, schemas),
      ...Object.fromEntries([...codes].map(([status, codes]) => [status, errorResponse(status, codes)])),
    },
  };
}

const SECURITY: Record<DocumentedAuthRoute["session"], JsonSchema[]> = {
  required: [{ session: [] }],
  optional: [{}, { session: [] }],
  none: [],
};

function parameters(location: "path" | "query", fields: z.ZodObject | null, schemas: Schemas): JsonSchema[] {
  if (fields === null) return [];
  const schema = schemas.of(fields, "input") as Fields;
  return Object.keys(fields.shape).map((name) => parameter(location, name, schema));
}

function successResponses(output: DocumentedAuthRoute["output"], schemas: Schemas): JsonSchema {
  if (output === "redirect") return { 302: REDIRECT };
  if (output instanceof z.ZodType) return { 200: success(output, schemas) };
  return { 200: success(output.orRedirect, schemas), 302: REDIRECT };
}

function success(output: z.ZodType, schemas: Schemas): JsonSchema {
  return {
    description: "Success. Cookies of a new, renewed or ended session are set.",
    headers: COUNTED_HEADERS,
    content: { "application/json": { schema: schemas.of(output, "output") } },
  };
}

const REDIRECT = {
  description: "Redirects to the page that the link is for; after a failure, with `?error=` and the code.",
  headers: { ...COUNTED_HEADERS, Location: { $ref: "#/components/headers/Location" } },
};

function errorResponse(status: number, codes: readonly string[]): JsonSchema {
  return {
    description: `${codes.length === 1 ? "Code" : "Codes"}: ${codes.map((code) => `\`${code}\``).join(", ")}.`,
    headers: {
      ...(status === 429 ? COUNTED_HEADERS : COMMON_HEADERS),
      ...(status === 429 || status === 503
        ? { "Retry-After": { $ref: "#/components/headers/RetryAfter" } }
        : {}),
      ...(status === 401 ? { "WWW-Authenticate": { $ref: "#/components/headers/Authenticate" } } : {}),
    },
    content: { "application/json": { schema: { $ref: "#/components/schemas/AuthError" } } },
  };
}
