import { versionNumber } from "../../domain/api-version.ts";
import type { RefusalCode } from "../../domain/refusals/reason-definition.ts";
import { codeOf, type Reason } from "../../domain/refusals/reasons.ts";
import { statusOf } from "../../http/status-of.ts";
import { hasBody } from "../rest/input.ts";
import type { Route } from "../rest/route.ts";
import { errorSchema, RESPONSES } from "./components.ts";
import type { JsonSchema } from "./schemas.ts";

/**
 * The error responses of an operation: their statuses, and in v2 the reasons.
 * @param shared where responses that several operations have in common are added, as components
 */
export function errorResponses(
  route: Route,
  version: string,
  shared: Record<string, JsonSchema>,
): JsonSchema {
  const byStatus = Map.groupBy(reasonsOf(route), (reason) => statusOf[codeOf(reason)]);
  return Object.fromEntries(
    [...byStatus].map(([status, reasons]) => {
      const name = RESPONSE_NAMES[codeOf(reasons[0] as Reason)];
      if (versionNumber(version) < 2) return [status, { $ref: `#/components/responses/${name}` }];
      const schema = errorSchema(version, reasons);
      const response = { ...RESPONSES[name], content: { "application/json": { schema } } };
      if (reasons.length > MAX_NAMED_REASONS) return [status, response];
      const sharedName = reasons.map(inPascalCase).join("Or");
      shared[sharedName] = response;
      return [status, { $ref: `#/components/responses/${sharedName}` }];
    }),
  );
}

/** The responses to refusals with these codes, by their statuses. */
export function refusals(...codes: RefusalCode[]): JsonSchema {
  return Object.fromEntries(
    codes.map((code) => [statusOf[code], { $ref: `#/components/responses/${RESPONSE_NAMES[code]}` }]),
  );
}

/** The name of a shared response lists its reasons: with more it would be unreadable. */
const MAX_NAMED_REASONS = 4;

function inPascalCase(reason: Reason): string {
  return reason.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function reasonsOf({ operation, method }: Route): Reason[] {
  const { access, permission, limit, reasons } = operation;
  return [
    "invalid_input",
    "unauthorized",
    ...(access === "session" ? (["session_required"] as const) : []),
    // Service keys get it where no permission covers the operation.
    "forbidden",
    ...(permission === undefined ? [] : (["missing_permission"] as const)),
    // A cookie-authenticated write is also refused when it comes from another site's page.
    "cross_origin",
    ...(hasBody(method) ? (["payload_too_large"] as const) : []),
    ...(limit === null ? [] : (["rate_limited"] as const)),
    "unavailable",
    // A service key that names an unknown user.
    ...(permission !== undefined && access !== "service" ? (["not_found"] as const) : []),
    ...reasons.filter((reason) => reason !== "not_found" || permission === undefined || access === "service"),
  ];
}

const RESPONSE_NAMES = {
  invalid_input: "InvalidInput",
  unauthorized: "Unauthorized",
  forbidden: "Forbidden",
  not_found: "NotFound",
  method_not_allowed: "MethodNotAllowed",
  gone: "Gone",
  conflict: "Conflict",
  too_large: "TooLarge",
  rate_limited: "TooManyRequests",
  unavailable: "Unavailable",
  internal: "Failed",
} as const satisfies Record<RefusalCode, keyof typeof RESPONSES>;
