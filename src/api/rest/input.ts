import { z } from "zod";
import { refuse } from "../../domain/refusals/refusal.ts";
import { NAMED_USER } from "../../operations/on-behalf.ts";
import type { Method, Route } from "./route.ts";

/** The parts of a request that form an operation's input. */
export type Parts = {
  params: Record<string, string>;
  /** All values of each query parameter. */
  queries: Record<string, string[]>;
  readBody(): Promise<Record<string, unknown>>;
};

export function hasBody(method: Method): boolean {
  return method === "POST" || method === "PUT" || method === "PATCH";
}

/**
 * Creates the input parser of one route: path parameters, plus the query string of a read or the body of a
 * write. Text is coerced where the schema expects a number or a boolean.
 */
export function inputReader({ method, operation }: Pick<Route, "method" | "operation">) {
  const kinds = kindsOf(operation.input);
  if (hasBody(method)) {
    return async ({ params, queries, readBody }: Parts): Promise<unknown> => {
      const sent = await readBody();
      const named = namedUserIn(queries);
      const repeated = Object.keys(named).find((name) => Object.hasOwn(sent, name));
      if (repeated !== undefined)
        refuse({ reason: "invalid_input", params: { problem: "repeated" }, field: repeated });
      const body = { ...sent, ...named };
      // The path identifies the resource: a conflicting id in the body is an error, not an override.
      for (const name of Object.keys(params)) {
        if (Object.hasOwn(body, name))
          refuse({ reason: "invalid_input", params: { problem: "belongs_in_path" }, field: name });
      }
      return { ...body, ...params };
    };
  }
  return async ({ params, queries }: Parts): Promise<unknown> => {
    // Without a prototype: a parameter may have any name.
    const input: Record<string, unknown> = Object.assign(Object.create(null), params);
    for (const [name, [value = "", ...more]] of Object.entries(queries)) {
      if (more.length > 0) refuse({ reason: "invalid_input", params: { problem: "repeated" }, field: name });
      if (Object.hasOwn(params, name))
        refuse({ reason: "invalid_input", params: { problem: "belongs_in_path" }, field: name });
      input[name] = fromText(name, value, kinds.get(name));
    }
    return input;
  };
}

/** The user that a service key acts for, which may be named in the query string of a write as well. */
function namedUserIn(queries: Parts["queries"]): Record<string, string> {
  return Object.fromEntries(
    Object.keys(NAMED_USER).flatMap((name) => {
      const [value, ...more] = queries[name] ?? [];
      if (more.length > 0) refuse({ reason: "invalid_input", params: { problem: "repeated" }, field: name });
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function kindsOf(input: z.ZodType): Map<string, unknown> {
  const schema = z.toJSONSchema(input, { io: "input", unrepresentable: "any" });
  return new Map(
    Object.entries(schema.properties ?? {}).map(([name, property]) => [
      name,
      (property as { type?: unknown }).type,
    ]),
  );
}

function fromText(name: string, text: string, kind: unknown): unknown {
  if (kind === "integer" || kind === "number") {
    if (!/^-?\d+$/.test(text))
      refuse({
        reason: "invalid_input",
        params: { problem: "wrong_type", expected: "a whole number" },
        field: name,
      });
    // Numbers too large to be exact are out of every range, and are refused as such.
    return Math.min(Math.max(Number(text), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
  }
  if (kind === "boolean") {
    if (text !== "true" && text !== "false")
      refuse({
        reason: "invalid_input",
        params: { problem: "wrong_type", expected: "true or false" },
        field: name,
      });
    return text === "true";
  }
  return text;
}
