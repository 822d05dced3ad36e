import { versionNumber } from "../../domain/api-version.ts";
import { REASONS } from "../../domain/refusals/reasons.ts";
import { reasonList } from "./reason-list.ts";
import type { JsonSchema } from "./schemas.ts";

export const SECURITY = {
  session: {
    type: "apiKey",
    in: "cookie",
    name: "better-auth.session_token",
    description: "Set at sign-in; over https its name begins with `__Host-`.",
  },
  bearer: {
    type: "http",
    scheme: "bearer",
    description: "An API key or a service key: `Authorization: Bearer tg_...`.",
  },
  apiKey: {
    type: "apiKey",
    in: "header",
    name: "X-API-Key",
    description: "The same keys in a header of their own.",
  },
  cron: { type: "http", scheme: "bearer", description: "The operator's `CRON_SECRET`." },
};

const error = { type: "string", description: "One English sentence." };

/** The body of an error; v1 has the sentence alone. @param reasons the possible ones, unless all */
export function errorSchema(version: string, reasons?: readonly string[]): JsonSchema {
  if (versionNumber(version) < 2) {
    return {
      type: "object",
      description: "An error.",
      properties: { error },
      required: ["error"],
      additionalProperties: false,
    };
  }
  return {
    type: "object",
    description: "An error.",
    properties: {
      error,
      reason: {
        type: "string",
        enum: reasons ?? Object.keys(REASONS),
        description: reasons
          ? "A stable identifier; the schema `Error` says what each means."
          : `A stable identifier:\n\n${reasonList()}`,
      },
      params: { type: "object", description: "Details of the reason, such as `field`." },
    },
    required: ["error", "reason", "params"],
    additionalProperties: false,
  };
}

/** The body of an error below `/auth`, in every version. */
export const AUTH_ERROR = {
  type: "object",
  description: "An error below `/auth`, as Better Auth's client reads it.",
  properties: {
    error,
    message: { type: "string", description: "The same sentence." },
    code: { type: "string", description: "A stable identifier, such as `INVALID_PASSWORD`." },
  },
  required: ["error", "message", "code"],
  additionalProperties: false,
};

export const HEADERS = {
  RateLimitLimit: {
    description:
      "How many requests are allowed per window; of several limits, the one with the fewest remaining.",
    schema: { type: "integer", minimum: 1 },
  },
  RateLimitRemaining: {
    description: "How many more requests are allowed now.",
    schema: { type: "integer", minimum: 0 },
  },
  RateLimitReset: {
    description:
      "When the oldest counted request leaves the window or, after a refusal, when the next request is allowed; Unix seconds.",
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
  RetryAfter: {
    description: "How many seconds to wait before trying again.",
    schema: { type: "integer", minimum: 1 },
  },
  RequestId: {
    description: "The request's id: quote it when you ask for help.",
    schema: { type: "string", format: "uuid" },
  },
  ApiVersion: { description: "The API version of the response.", schema: { type: "string" } },
  Deprecation: { description: "`true` where the version is deprecated.", schema: { type: "string" } },
  Sunset: { description: "When the version will be removed; an ISO date.", schema: { type: "string" } },
  Link: {
    description: 'The same path in the successor version: `<...>; rel="successor-version"`.',
    schema: { type: "string" },
  },
  ETag: { description: "Identifies this response, for `If-None-Match`.", schema: { type: "string" } },
  Location: { description: "Where the redirect goes.", schema: { type: "string" } },
};

const LIMIT_HEADERS = {
  "X-RateLimit-Limit": { $ref: "#/components/headers/RateLimitLimit" },
  "X-RateLimit-Remaining": { $ref: "#/components/headers/RateLimitRemaining" },
  "X-RateLimit-Reset": { $ref: "#/components/headers/RateLimitReset" },
  RateLimit: { $ref: "#/components/headers/RateLimit" },
  "RateLimit-Policy": { $ref: "#/components/headers/RateLimitPolicy" },
};

/** Of every response. */
export const COMMON_HEADERS = {
  "X-Request-Id": { $ref: "#/components/headers/RequestId" },
  "X-API-Version": { $ref: "#/components/headers/ApiVersion" },
  Deprecation: { $ref: "#/components/headers/Deprecation" },
  Sunset: { $ref: "#/components/headers/Sunset" },
  Link: { $ref: "#/components/headers/Link" },
};

/** Of every response to a request that was counted. */
export const COUNTED_HEADERS = { ...LIMIT_HEADERS, ...COMMON_HEADERS };

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
  }),
  Unavailable: problem("A dependency is down or not configured.", {
    "Retry-After": { $ref: "#/components/headers/RetryAfter" },
  }),
};

function problem(description: string, headers: JsonSchema = {}): JsonSchema {
  return {
    description,
    headers: { ...headers, ...COUNTED_HEADERS },
    content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
  };
}
