import type { Context, ErrorHandler, MiddlewareHandler } from "hono";
import { bearerKey, isSameKey } from "../http/api-key.ts";
import { type Json, readJson } from "../http/json-body.ts";
import type { Parameter } from "../http/parameters.ts";

type Status = 400 | 401 | 403 | 404 | 422;

export class PolarProblem extends Error {
  override name = "PolarProblem";
  readonly status: Status;
  readonly body: object;

  constructor(status: Status, body: object) {
    super(JSON.stringify(body));
    this.status = status;
    this.body = body;
  }
}

export function notFound(): PolarProblem {
  return new PolarProblem(404, { error: "ResourceNotFound", detail: "Not found" });
}

/** In its framework's format. */
export function unprocessable(
  location: readonly (string | number)[],
  message: string,
  { in: place = "body", type = "value_error" }: { in?: Parameter["in"]; type?: string } = {},
): PolarProblem {
  return new PolarProblem(422, {
    error: "RequestValidationError",
    detail: [{ loc: [place, ...location], msg: message, type }],
  });
}

export const answerPolarProblem: ErrorHandler = (error, c) => {
  if (!(error instanceof PolarProblem)) throw error;
  return c.json(error.body, error.status);
};

export function requirePolarKey(apiKey: string): MiddlewareHandler {
  return async (c, next) => {
    const presented = bearerKey(c.req.header("authorization"));
    if (presented === null)
      throw new PolarProblem(401, { error: "Unauthorized", detail: "Not authenticated" });
    if (!isSameKey(presented, apiKey)) {
      throw new PolarProblem(401, {
        error: "invalid_token",
        error_description:
          "The access token provided is expired, revoked, malformed, or invalid for other reasons.",
      });
    }
    await next();
  };
}

export async function readBody(c: Context): Promise<Json> {
  const json = await readJson(c);
  if (json === null) throw unprocessable([], "JSON decode error");
  return json;
}

export function unknownParameter({ in: place, path }: Parameter): PolarProblem {
  return unprocessable(path.map(indexOrName), "Extra inputs are not permitted", {
    in: place,
    type: "extra_forbidden",
  });
}

export function unsupportedValue({ in: place, path }: Parameter, supported: readonly string[]): PolarProblem {
  const message = `Input should be ${supported.map((value) => `'${value}'`).join(" or ")}`;
  return unprocessable(path.map(indexOrName), message, { in: place, type: "literal_error" });
}

function indexOrName(segment: string): string | number {
  return /^\d+$/.test(segment) ? Number(segment) : segment;
}
