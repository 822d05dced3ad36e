import { z } from "zod";
import { NAMED_USER } from "../../operations/on-behalf.ts";
import { hasBody } from "../rest/input.ts";
import type { Route } from "../rest/route.ts";
import { itemsName } from "../versions/list-shape.ts";
import { COUNTED_HEADERS } from "./components.ts";
import { errorResponses } from "./error-responses.ts";
import { type Fields, parameter, requestBody } from "./parameters.ts";
import type { JsonSchema, Schemas } from "./schemas.ts";
import { tagOf } from "./tags.ts";

/** Where one document's shared schemas and responses are added. */
export type Components = { schemas: Schemas; responses: Record<string, JsonSchema> };

/** The operation object of one REST route. */
export function routeObject(route: Route, version: string, { schemas, responses }: Components): JsonSchema {
  const { operation, method, status } = route;
  const fields = schemas.of(withNamedUser(operation), "input") as Fields;
  const inPath = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => name as string);
  const sentInBody = hasBody(method);
  const inQuery = sentInBody
    ? []
    : Object.keys(fields.properties ?? {}).filter((name) => !inPath.includes(name));
  return {
    operationId: operation.name.replace(/\.(\w)/, (_, letter: string) => letter.toUpperCase()),
    summary: operation.summary,
    description: `${callers(operation)} ${limitText(operation)}`,
    tags: [tagOf(route).name],
    ...security(operation),
    parameters: [
      ...inPath.map((name) => parameter("path", name, fields)),
      ...inQuery.map((name) => parameter("query", name, fields)),
      ...(route.etag ? [IF_NONE_MATCH] : []),
    ],
    ...(sentInBody ? requestBody(fields, inPath) : {}),
    responses: {
      [status]: {
        description: "Success.",
        headers: {
          ...COUNTED_HEADERS,
          ...(route.etag ? { ETag: { $ref: "#/components/headers/ETag" } } : {}),
        },
        content: { "application/json": { schema: outputSchema(route, version, schemas) } },
      },
      ...(route.etag
        ? {
            304: {
              description: "Not changed since the response with the `ETag` in `If-None-Match`.",
              headers: COUNTED_HEADERS,
            },
          }
        : {}),
      ...errorResponses(route, version, responses),
    },
  };
}

const IF_NONE_MATCH = {
  name: "If-None-Match",
  in: "header",
  required: false,
  description: "The `ETag` of an earlier response: if nothing has changed since, the response is 304.",
  schema: { type: "string" },
};

/** A service key also names the user that it acts for. */
function withNamedUser({ input, access, permission }: Route["operation"]): z.ZodType {
  if (permission === undefined || access === "service" || !(input instanceof z.ZodObject)) return input;
  return input.extend(NAMED_USER);
}

function callers({ access, permission }: Route["operation"]): string {
  const serviceKeys = permission === undefined ? "" : `, and for service keys with \`${permission}\``;
  switch (access) {
    case "anyone":
      return "For anyone.";
    case "person":
      return `For signed-in users, by session or API key${serviceKeys}.`;
    case "session":
      return `For signed-in users, by session${serviceKeys}.`;
    case "admin":
      return `For administrators, by session${serviceKeys}.`;
    case "service":
      return `For service keys with \`${permission}\`.`;
    case "operator":
      return "For the operator.";
    default:
      return access satisfies never;
  }
}

function limitText({ limit, permission }: Route["operation"]): string {
  if (limit === null) return "Not limited.";
  if (limit === "service-key") return "Limited by the key's own limit.";
  return `Limited by \`${limit}\`${permission === undefined ? "" : ", service keys by their own limit"}.`;
}

function security({ access, permission }: Route["operation"]): JsonSchema {
  const key = [{ bearer: [] }, { apiKey: [] }];
  if (access === "anyone") return { security: [{}, { session: [] }, ...key] };
  if (access === "service") return { security: key };
  if (access === "admin" || access === "session")
    return { security: [{ session: [] }, ...(permission === undefined ? [] : key)] };
  return {};
}

function outputSchema({ operation, plural }: Route, version: string, schemas: Schemas): JsonSchema {
  const { output } = operation;
  if (plural === null || !(output instanceof z.ZodObject)) return schemas.of(output, "output");
  const { items, nextCursor } = output.shape as { items: z.ZodType; nextCursor: z.ZodType };
  return schemas.of(z.object({ [itemsName(version, plural)]: items, nextCursor }), "output");
}
