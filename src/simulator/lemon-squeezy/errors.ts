import type { Context, ErrorHandler, MiddlewareHandler } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { bearerKey, isSameKey } from "../http/api-key.ts";

type Status = 400 | 401 | 404 | 422;

const TITLES: Record<Status, string> = {
  400: "Bad Request",
  401: "Unauthorized",
  404: "Not Found",
  422: "Unprocessable Entity",
};

/** JSON:API, https://jsonapi.org/format/#errors */
export class LemonSqueezyProblem extends Error {
  override name = "LemonSqueezyProblem";
  readonly status: Status;
  readonly pointer: string | null;

  constructor(status: Status, detail: string, pointer: string | null = null) {
    super(detail);
    this.status = status;
    this.pointer = pointer;
  }
}

export const answerLemonSqueezyProblem: ErrorHandler = (error, c) => {
  if (!(error instanceof LemonSqueezyProblem)) throw error;
  const { status, message, pointer } = error;
  const entry = { detail: message, status: String(status), title: TITLES[status] };
  return document(c, { errors: [{ ...entry, ...(pointer ? { source: { pointer } } : {}) }] }, status);
};

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
