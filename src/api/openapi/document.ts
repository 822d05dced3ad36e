import { z } from "zod";
import { versionNumber } from "../../domain/api-version.ts";
import type { RefusalCode } from "../../domain/reason-definition.ts";
import { codeOf, type Reason } from "../../domain/reasons.ts";
import { statusOf } from "../../http/status-of.ts";
import { NAMED_USER } from "../../operations/on-behalf.ts";
import { hasBody } from "../rest/input.ts";
import type { Route } from "../rest/route.ts";
import { ANSWER_HEADERS, errorSchema, HEADERS, RESPONSES, SECURITY } from "./components.ts";
import { outboundWebhooks } from "./outbound-webhooks.ts";
import { type JsonSchema, Schemas } from "./schemas.ts";
import { SYSTEM_PATHS } from "./system-paths.ts";

/** Tag name and description per noun. */
const TAGS: Record<string, { name: string; description: string }> = {
  plans: { name: "Plans", description: "The plans for sale." },
  users: { name: "Users", description: "User accounts." },
  subscriptions: {
    name: "Subscriptions",
    description: "Users' subscriptions, as reported by the payment providers.",
  },
  billing: { name: "Billing", description: "Checkout and customer portal at the payment provider." },
  payments: { name: "Payments", description: "Payments with their refunds and disputes." },
  apiKeys: { name: "API keys", description: "Keys for programs that act on behalf of their owner." },
  serviceKeys: {
    name: "Service keys",
    description: "Keys for programs that act for the users that they name, managed by administrators.",
  },
  notifications: { name: "Notifications", description: "Messages about a user's plan, keys and account." },
  entitlements: { name: "Entitlements", description: "What users may do, by their subscriptions." },
  usage: { name: "Usage", description: "What users have used of their quotas." },
  audit: { name: "Audit log", description: "Actions of administrators, operators and API keys." },
  events: { name: "Events", description: "Changes, for programs that poll or stream them." },
  eventEndpoints: {
    name: "Event endpoints",
    description: "Endpoints that receive signed events about changes.",
  },
  webhooks: { name: "Webhook deliveries", description: "The log of events received from payment providers." },
};

const SYSTEM = {
  name: "System",
  description: "The service itself, and its webhook endpoints.",
};

type Options = {
  routes: readonly Route[];
  /** The version to describe, and its path prefix: `v1`. */
  version: string;
  /** The public origin, without a trailing slash. */
  appUrl: string;
};

/** The OpenAPI 3.1 document of the REST API, generated from the operations. */
export function openApiDocument({ routes, version, appUrl }: Options): JsonSchema {
  const schemas = new Schemas();
  const ofRoutes: Record<string, JsonSchema> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    ofRoutes[path] = { ...ofRoutes[path], [route.method.toLowerCase()]: described(route, version, schemas) };
  }
  const paths = { ...ofRoutes, ...SYSTEM_PATHS };
  const webhooks = outboundWebhooks(schemas);
  const tags = [...new Set(routes.map(tagOf)), SYSTEM];
  return {
    openapi: "3.1.0",
    info: {
      title: "Tollgate",
      version: version.slice(1),
      description: DESCRIPTION,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: `${appUrl}/api/${version}` }],
    security: [{ session: [] }, { bearer: [] }, { apiKey: [] }],
    tags,
    paths,
    webhooks,
    components: {
      securitySchemes: SECURITY,
      headers: HEADERS,
      responses: responsesOf(paths),
      schemas: { Error: errorSchema(version), ...schemas.components },
    },
  };
}

const DESCRIPTION = `Every request is authenticated, counted against an exact sliding-window limit, validated and then executed, in this order.
Browsers send the session cookie, programs an API key. A service key names the user that it acts for (\`user\` or
\`externalId\`) and reaches only what its permissions allow.
Lists are paginated: follow \`nextCursor\` until it is null.`;

function described(route: Route, version: string, schemas: Schemas): JsonSchema {
  const { operation, method, status } = route;
  const { name, summary } = operation;
  const fields = schemas.of(withNamedUser(operation), "input") as Fields;
  const names = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => name as string);
  const sentInBody = hasBody(method);
  return {
    operationId: name.replace(/\.(\w)/, (_, letter: string) => letter.toUpperCase()),
    summary,
    tags: [tagOf(route).name],
    ...securityOf(operation),
    parameters: [
      ...names.map((name) => parameter("path", name, fields)),
      ...(sentInBody
        ? []
        : Object.keys(fields.properties ?? {})
            .filter((name) => !names.includes(name))
            .map((name) => parameter("query", name, fields))),
    ],
    ...(sentInBody ? body(fields, names) : {}),
    responses: {
      [status]: {
        description: "Success.",
        headers: ANSWER_HEADERS,
        content: { "application/json": { schema: shape(route, version, schemas) } },
      },
      ...(route.etag
        ? {
            304: {
              description: "Not changed since the answer with the `ETag` in `If-None-Match`.",
              headers: ANSWER_HEADERS,
            },
          }
        : {}),
      ...refusals(route, version),
    },
  };
}

/** A service key also names the user that it acts for. */
function withNamedUser({ input, access, permission }: Route["operation"]): z.ZodType {
  if (permission === undefined || access === "service" || !(input instanceof z.ZodObject)) return input;
  return input.extend(NAMED_USER);
}

function securityOf({ access, permission }: Route["operation"]): JsonSchema {
  const key = [{ bearer: [] }, { apiKey: [] }];
  if (access === "anyone") return { security: [{}, { session: [] }, ...key] };
  if (access === "service") return { security: key };
  if (access === "admin" || access === "session")
    return { security: [{ session: [] }, ...(permission === undefined ? [] : key)] };
  return {};
}

type Fields = JsonSchema & { properties?: Record<string, JsonSchema>; required?: string[] };

function parameter(location: "path" | "query", name: string, { properties, required }: Fields): JsonSchema {
  const { description, ...schema } = properties?.[name] ?? {};
  return {
    name,
    in: location,
    required: location === "path" || (required?.includes(name) ?? false),
    ...(description ? { description } : {}),
    schema: location === "query" ? withoutNull(schema) : schema,
  };
}

/** A query string cannot say null: generated clients would send the word. */
function withoutNull({ anyOf, default: byDefault, ...schema }: JsonSchema): JsonSchema {
  const choices = (anyOf as JsonSchema[] | undefined)?.filter(({ type }) => type !== "null");
  const [only, ...otherChoices] = choices ?? [];
  return {
    ...schema,
    ...(byDefault === undefined || byDefault === null ? {} : { default: byDefault }),
    ...(otherChoices.length > 0 ? { anyOf: choices } : only),
  };
}

function body({ properties = {}, required = [], ...rest }: Fields, inPath: readonly string[]): JsonSchema {
  const bodyProperties = Object.entries(properties).filter(([name]) => !inPath.includes(name));
  if (bodyProperties.length === 0) return {};
  const needed = required.filter((name) => !inPath.includes(name));
  const schema = {
    ...rest,
    properties: Object.fromEntries(bodyProperties),
    ...(needed.length > 0 ? { required: needed } : {}),
  };
  return { requestBody: { required: needed.length > 0, content: { "application/json": { schema } } } };
}

/** v1 and v2 differ in the name of a list's items, see api/versions. */
function shape({ operation, plural }: Route, version: string, schemas: Schemas): JsonSchema {
  const { output } = operation;
  if (plural === null || !(output instanceof z.ZodObject)) return schemas.of(output, "output");
  const { items, nextCursor } = output.shape as { items: z.ZodType; nextCursor: z.ZodType };
  return schemas.of(z.object({ [version === "v1" ? plural : "data"]: items, nextCursor }), "output");
}

/** The tags that some path uses. */
function responsesOf(paths: Record<string, JsonSchema>): JsonSchema {
  const text = JSON.stringify(paths);
  const used = Object.entries(RESPONSES).filter(([name]) => text.includes(`#/components/responses/${name}"`));
  return Object.fromEntries(used);
}

/** The error responses of an operation: their statuses, and in v2 the reasons. */
function refusals(route: Route, version: string): JsonSchema {
  const byStatus = Map.groupBy(reasonsOf(route), (reason) => statusOf[codeOf(reason)]);
  return Object.fromEntries(
    [...byStatus].map(([status, reasons]) => {
      const name = RESPONSE_NAMES[codeOf(reasons[0] as Reason)];
      if (versionNumber(version) < 2) return [status, { $ref: `#/components/responses/${name}` }];
      const schema = errorSchema(version, reasons);
      return [status, { ...RESPONSES[name], content: { "application/json": { schema } } }];
    }),
  );
}

function reasonsOf({ operation, method }: Route): Reason[] {
  const { access, permission, limit, reasons } = operation;
  return [
    "invalid_input",
    "unauthorized",
    ...(access === "session" ? (["session_required"] as const) : []),
    // Also to service keys, wherever they have no permission to be given.
    "forbidden",
    ...(permission === undefined ? [] : (["missing_permission"] as const)),
    // A cookie-authenticated write is also refused when it comes from another site's page.
    "cross_origin",
    ...(hasBody(method) ? (["payload_too_large"] as const) : []),
    ...(limit === null ? [] : (["rate_limited"] as const)),
    "unavailable",
    // A service key that names an unknown user.
    ...(permission !== undefined && access !== "service" ? (["not_found"] as const) : []),
    ...reasons.filter((reason) => reason !== "not_found" || permission === undefined || access === "service"),
  ];
}

const RESPONSE_NAMES = {
  invalid_input: "InvalidInput",
  unauthorized: "Unauthorized",
  forbidden: "Forbidden",
  not_found: "NotFound",
  method_not_allowed: "MethodNotAllowed",
  gone: "Gone",
  conflict: "Conflict",
  too_large: "TooLarge",
  rate_limited: "TooManyRequests",
  unavailable: "Unavailable",
  internal: "Failed",
} as const satisfies Record<RefusalCode, keyof typeof RESPONSES>;

/** @throws Error for a noun without a tag */
function tagOf({ operation }: Route): { name: string; description: string } {
  const noun = operation.name.split(".")[0] as string;
  const tag = TAGS[noun];
  if (!tag) throw new Error(`${operation.name}: what its documents call "${noun}" is missing in TAGS`);
  return tag;
}
