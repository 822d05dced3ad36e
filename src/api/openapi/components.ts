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
  bearer: { type: "http", scheme: "bearer", description: "An API key: `Authorization: Bearer tg_...`." },
  apiKey: { type: "apiKey", in: "header", name: "X-API-Key" },
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
      params: { type: "object", description: "What belongs to the reason, such as `field`." },
    },
    required: ["error", "reason", "params"],
    additionalProperties: false,
  };
}

export const HEADERS = {
  RateLimitRemaining: {
    description: "How many more calls are admitted now.",
    schema: { type: "integer", minimum: 0 },
  },
  RateLimit: {
    description: 'What is left of each limit, and for how many seconds: `"api";r=29;t=60`.',
    schema: { type: "string" },
  },
  RateLimitPolicy: {
    description: 'The limits that were counted under, per window in seconds: `"api";q=30;w=60`.',
    schema: { type: "string" },
  },
  Authenticate: { description: "How to authenticate.", schema: { type: "string" } },
  RetryAfter: { description: "In whole seconds.", schema: { type: "integer", minimum: 1 } },
  RequestId: { description: "To be named when asking for help.", schema: { type: "string", format: "uuid" } },
  ApiVersion: { description: "The version that has answered.", schema: { type: "string" } },
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
  InvalidInput: problem("The input is not as described; the sentence names the field."),
  Unauthorized: problem("No session and no valid API key.", {
    "WWW-Authenticate": { $ref: "#/components/headers/Authenticate" },
  }),
  Forbidden: problem("Known, but not allowed to do this."),
  NotFound: problem("There is no such thing, or it belongs to somebody else."),
  MethodNotAllowed: problem("The path does not have this method."),
  Gone: problem("No longer kept."),
  Conflict: problem("Not possible in the state that it is in."),
  TooLarge: problem("The body is larger than allowed."),
  Failed: problem("A defect, or a failure that is kept and retried."),
  TooManyRequests: problem("Over the limit.", {
    "Retry-After": { $ref: "#/components/headers/RetryAfter" },
    ...LIMIT_HEADERS,
  }),
  Unavailable: problem("Something that this needs is down or not configured.", {
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
