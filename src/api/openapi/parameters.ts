import type { JsonSchema } from "./schemas.ts";

/** The JSON Schema of an object's fields. */
export type Fields = JsonSchema & { properties?: Record<string, JsonSchema>; required?: string[] };

export function parameter(
  location: "path" | "query",
  name: string,
  { properties, required }: Fields,
): JsonSchema {
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

/** The request body of what is not in the path, or nothing. */
export function requestBody(
  { properties = {}, required = [], ...rest }: Fields,
  inPath: readonly string[] = [],
): JsonSchema {
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
