import type { Context, MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";

/**
 * The parameters that a route honours, by dotted name: `items.0.price_id`. `*` is any key or index, `**`
 * anything below. `"any"`: with any value; a list: with these values alone.
 */
export type Parameters = Readonly<Record<string, "any" | readonly string[]>>;

/** By method and path, as registered: `POST /v1/customers`. */
export type ParameterTable = Readonly<Record<string, Parameters>>;

export type Parameter = {
  in: "query" | "body";
  /** `["items", "0", "price_id"]` */
  path: readonly string[];
  /** The name as sent, of query and form parameters. */
  name: string;
  value: unknown;
};

export type ParameterCheck = {
  table: ParameterTable;
  body: "form" | "json";
  /** Whether a query parameter can have several values, separated by commas. */
  splitsValues?: boolean;
  /** The path at which the provider's routes are mounted, which the table omits. */
  mountedAt: string;
  unknownParameter(parameter: Parameter): Error;
  unsupportedValue(parameter: Parameter, supported: readonly string[]): Error;
};

/** Refuses parameters that a route would ignore, so that code that works here works at the provider. */
export function checkParameters(check: ParameterCheck): MiddlewareHandler {
  return async (c, next) => {
    const parametersOfRoute = check.table[routeOf(c, check.mountedAt)];
    if (parametersOfRoute !== undefined) {
      for (const parameter of [...queryOf(c), ...(await bodyOf(c, check.body))]) {
        const problem = problemWith(parameter, parametersOfRoute, check);
        if (problem !== null) throw problem;
      }
    }
    await next();
  };
}

/** The route that answers a request, as the table names it. */
function routeOf(c: Context, mountedAt: string): string {
  const path = matchedRoutes(c).findLast(({ method }) => method !== "ALL")?.path ?? "";
  return `${c.req.method} ${path.startsWith(`${mountedAt}/`) ? path.slice(mountedAt.length) : path}`;
}

function problemWith(parameter: Parameter, known: Parameters, check: ParameterCheck): Error | null {
  const { path, value } = parameter;
  let candidates = Object.keys(known).map((name) => ({ name, pattern: name.split(".") }));
  for (const [depth, segment] of path.entries()) {
    candidates = candidates.filter(({ pattern }) => matchesAt(pattern, depth, segment));
    if (candidates.length > 0) continue;
    // The shallowest part that is unknown: a second item, not each of its fields.
    const unknownPath = path.slice(0, depth + 1);
    return check.unknownParameter({ ...parameter, path: unknownPath });
  }
  const exact = candidates.find(({ pattern }) => pattern.length === path.length || pattern.at(-1) === "**");
  const supported = known[exact?.name ?? ""] ?? "any";
  if (supported === "any" || value === null) return null;
  const splits = check.splitsValues === true && parameter.in === "query";
  const values = splits ? String(value).split(",") : [String(value)];
  if (values.every((single) => supported.includes(single))) return null;
  return check.unsupportedValue(parameter, supported);
}

function matchesAt(pattern: readonly string[], depth: number, segment: string): boolean {
  const expected = pattern[depth] ?? (pattern.at(-1) === "**" ? "**" : undefined);
  return expected === "*" || expected === "**" || expected === segment;
}

function queryOf(c: Context): Parameter[] {
  return formParameters("query", new URL(c.req.url).searchParams);
}

async function bodyOf(c: Context, format: ParameterCheck["body"]): Promise<Parameter[]> {
  if (c.req.method === "GET") return [];
  const text = await c.req.text();
  if (format === "form") return formParameters("body", new URLSearchParams(text));
  try {
    return jsonParameters(JSON.parse(text || "{}"), []);
  } catch {
    // Reported by the route, in the provider's words.
    return [];
  }
}

/** `items[0][price]` has the path items, 0, price; `expand[]` has expand, 0. */
function formParameters(place: Parameter["in"], fields: URLSearchParams): Parameter[] {
  return [...fields].map(([name, value]) => {
    const path = name.replaceAll("]", "").split("[");
    return { in: place, path: path.map((segment) => segment || "0"), name, value };
  });
}

function jsonParameters(value: unknown, path: readonly string[]): Parameter[] {
  const isBranch = typeof value === "object" && value !== null && Object.keys(value).length > 0;
  if (!isBranch) return path.length === 0 ? [] : [{ in: "body", path, name: path.join("."), value }];
  return Object.entries(value).flatMap(([key, child]) => jsonParameters(child, [...path, key]));
}
