import { randomUUID } from "node:crypto";
import type { Context, ErrorHandler, MiddlewareHandler } from "hono";
import { bearerKey, isSameKey } from "../http/api-key.ts";
import type { Parameter } from "../http/parameters.ts";

type Status = 400 | 403 | 404 | 409;

export class PaddleProblem extends Error {
  override name = "PaddleProblem";
  readonly status: Status;
  readonly body: object;

  constructor(status: Status, code: string, detail: string, errors?: { field: string; message: string }[]) {
    super(detail);
    this.status = status;
    const documentation_url = `https://developer.paddle.com/errors/shared/${code}`;
    this.body = { type: "request_error", code, detail, documentation_url, ...(errors ? { errors } : {}) };
  }
}

export function invalidField(field: string, message: string): PaddleProblem {
  return new PaddleProblem(400, "bad_request", "Invalid request.", [{ field, message }]);
}

export function unknownParameter({ path }: Parameter): PaddleProblem {
  const name = path.at(-1);
  const kind = /^\d+$/.test(name ?? "") ? "item" : "property";
  return invalidField(path.join("."), `Additional ${kind} ${name} is not allowed`);
}

export function unsupportedValue({ path }: Parameter, supported: readonly string[]): PaddleProblem {
  const allowed = supported.length === 0 ? "null" : supported.map((value) => `"${value}"`).join(", ");
  return invalidField(path.join("."), `must be one of the following: ${allowed}`);
}

export function noEntity(id: string): PaddleProblem {
  return new PaddleProblem(404, "not_found", `Entity ${id} not found`);
}

export const answerPaddleProblem: ErrorHandler = (error, c) => {
  if (!(error instanceof PaddleProblem)) throw error;
  return c.json({ error: error.body, meta: meta() }, error.status);
};

// https://developer.paddle.com/errors/shared/authentication_missing: 403 for both.
export function requirePaddleKey(apiKey: string): MiddlewareHandler {
  return async (c, next) => {
    const presented = bearerKey(c.req.header("authorization"));
    if (presented === null) {
      throw new PaddleProblem(403, "authentication_missing", "Authentication header missing.");
    }
    if (!isSameKey(presented, apiKey)) {
      throw new PaddleProblem(403, "invalid_token", "Invalid or revoked API key.");
    }
    await next();
  };
}

export function meta(): { request_id: string } {
  return { request_id: randomUUID() };
}

export function data(c: Context, value: object, status: 200 | 201 = 200): Response {
  return c.json({ data: value, meta: meta() }, status);
}

export function paged(c: Context, page: readonly object[], pagination: object): Response {
  return c.json({ data: page, meta: { ...meta(), pagination } });
}
