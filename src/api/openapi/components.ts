import { versionNumber } from "../../domain/api-version.ts";
import { REASONS } from "../../domain/reasons.ts";
import type { JsonSchema } from "./schemas.ts";

export const SECURITY = {
  session: {
    type: "apiKey",
    in: "cookie",
    name: "better-auth.session_token",
    description: "Set by signing in; over https its name begins with `__Host-`.",
  },
  bearer: {
    type: "http",
    scheme: "bearer",
    description: "An API key or a service key: `Authorization: Bearer tg_...`.",
  },
  apiKey: { type: "apiKey", in: "header", name: "X-API-Key" },
  cron: { type: "http", scheme: "bearer", description: "The operator's `CRON_SECRET`." },
};

/** The body of an error; v1 has the sentence alone. @param reasons the possible ones */
export function errorSchema(version: string, reasons: readonly string[] = Object.keys(REASONS)): JsonSchema {
  const error = { type: "string", description: "One sentence." };
  if (versionNumber(version) < 2) {
    return { type: "object", properties: { error }, required: ["error"], additionalProperties: false };
  }
  return {
    type: "object",
    properties: {
      error,
      reason: { type: "string", enum: reasons, description: "A stable identifier." },
      params: { type: "object", description: "Details of the reason, such as `field`." },
    },
    required: ["error", "reason", "params"],
    additionalProperties: false,
  };
}

export const HEADERS = {
  RateLimitRemaining: {
    description: "How many more requests are allowed now.",
    schema: { type: "integer", minimum: 0 },
  },
  RateLimit: {
    description: 'The remaining requests of each limit and the seconds until it resets: `"api";r=29;t=60`.',
    schema: { type: "string" },
  },
  RateLimitPolicy: {
    description: 'The limits that apply, with their windows in seconds: `"api";q=30;w=60`.',
    schema: { type: "string" },
  },
  Authenticate: { description: "How to authenticate.", schema: { type: "string" } },
  RetryAfter: { description: "Whole seconds.", schema: { type: "integer", minimum: 1 } },
  RequestId: { description: "Quote it when you ask for help.", schema: { type: "string", format: "uuid" } },
  ApiVersion: { description: "The API version of the response.", schema: { type: "string" } },
};

const LIMIT_HEADERS = {
  "X-RateLimit-Remaining": { $ref: "#/components/headers/RateLimitRemaining" },
  RateLimit: { $ref: "#/components/headers/RateLimit" },
  "RateLimit-Policy": { $ref: "#/components/headers/RateLimitPolicy" },
};

export const ANSWER_HEADERS = {
  ...LIMIT_HEADERS,
  "X-Request-Id": { $ref: "#/components/headers/RequestId" },
  "X-API-Version": { $ref: "#/components/headers/ApiVersion" },
};

export const RESPONSES = {
  InvalidInput: problem("Invalid input; the sentence names the field."),
  Unauthorized: problem("No session and no valid API key.", {
    "WWW-Authenticate": { $ref: "#/components/headers/Authenticate" },
  }),
  Forbidden: problem("The caller is not allowed to do this."),
  NotFound: problem("Not found, or it belongs to another user."),
  MethodNotAllowed: problem("The path does not support this method."),
  Gone: problem("No longer kept."),
  Conflict: problem("Not possible in the current state."),
  TooLarge: problem("The body is larger than allowed."),
  Failed: problem("An internal error, or a failure that is stored and retried."),
  TooManyRequests: problem("Over the limit.", {
    "Retry-After": { $ref: "#/components/headers/RetryAfter" },
    ...LIMIT_HEADERS,
  }),
  Unavailable: problem("A dependency is down or not configured.", {
    "Retry-After": { $ref: "#/components/headers/RetryAfter" },
  }),
};

function problem(description: string, headers: JsonSchema = {}): JsonSchema {
  return {
    description,
    headers: { ...headers, "X-Request-Id": { $ref: "#/components/headers/RequestId" } },
    content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
  };
}
