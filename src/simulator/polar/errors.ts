import type { ErrorHandler, MiddlewareHandler } from "hono";
import { bearerKey, isSameKey } from "../http/api-key.ts";

type Status = 401 | 403 | 404 | 422;

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
export function unprocessable(location: readonly (string | number)[], message: string): PolarProblem {
  return new PolarProblem(422, {
    error: "RequestValidationError",
    detail: [{ loc: ["body", ...location], msg: message, type: "value_error" }],
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
