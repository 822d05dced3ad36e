import type { Context, ErrorHandler, MiddlewareHandler } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { bearerKey, isSameKey } from "../http/api-key.ts";
import { type Json, readJson } from "../http/json-body.ts";
import type { Parameter } from "../http/parameters.ts";

type Status = 400 | 401 | 404 | 422;

const TITLES: Record<Status, string> = {
  400: "Bad Request",
  401: "Unauthorized",
  404: "Not Found",
  422: "Unprocessable Entity",
};

/** A pointer into the body, or the name of a query parameter. */
type ErrorSource = { pointer: string } | { parameter: string };

/** JSON:API, https://jsonapi.org/format/#errors */
export class LemonSqueezyProblem extends Error {
  override name = "LemonSqueezyProblem";
  readonly status: Status;
  readonly source: ErrorSource | null;

  constructor(status: Status, detail: string, source: ErrorSource | null = null) {
    super(detail);
    this.status = status;
    this.source = source;
  }
}

export const answerLemonSqueezyProblem: ErrorHandler = (error, c) => {
  if (!(error instanceof LemonSqueezyProblem)) throw error;
  const { status, message, source } = error;
  const entry = { detail: message, status: String(status), title: TITLES[status] };
  return document(c, { errors: [{ ...entry, ...(source ? { source } : {}) }] }, status);
};

export function notFound(): LemonSqueezyProblem {
  return new LemonSqueezyProblem(404, "The requested resource was not found.");
}

export function unknownParameter(parameter: Parameter): LemonSqueezyProblem {
  return refused(parameter, "is not supported");
}

export function unsupportedValue(parameter: Parameter, supported: readonly string[]): LemonSqueezyProblem {
  const values = supported.filter((value) => value !== "");
  return refused(parameter, values.length === 0 ? "is not supported" : `must be one of ${values.join(", ")}`);
}

function refused({ in: place, path, name }: Parameter, problem: string): LemonSqueezyProblem {
  if (place === "query")
    return new LemonSqueezyProblem(400, `The parameter ${name} ${problem}.`, { parameter: name });
  const pointer = `/${path.join("/")}`;
  return new LemonSqueezyProblem(422, `The ${path.at(-1)} field ${problem}.`, { pointer });
}

export async function readBody(c: Context): Promise<Json> {
  const json = await readJson(c);
  if (json === null) throw new LemonSqueezyProblem(400, "The request body is not valid JSON.");
  return json;
}

export function requireLemonSqueezyKey(apiKey: string): MiddlewareHandler {
  return async (c, next) => {
    const presented = bearerKey(c.req.header("authorization"));
    if (presented === null || !isSameKey(presented, apiKey))
      throw new LemonSqueezyProblem(401, "Unauthenticated.");
    await next();
  };
}

export function document(c: Context, content: object, status: ContentfulStatusCode = 200): Response {
  return c.body(JSON.stringify({ jsonapi: { version: "1.0" }, ...content }), status, {
    "content-type": "application/vnd.api+json",
  });
}
