import { z } from "zod";
import {
  DEFAULT_POLICIES,
  LIMIT_TEXT,
  type Policies,
  SCOPES,
  type Scope,
  toLimit,
} from "../limits/policies.ts";

const rateLimit = z
  .string()
  .regex(LIMIT_TEXT, "expected limit/windowSeconds, at most 1000000/99999, e.g. 30/60")
  .transform(toLimit)
  .optional();

const MEMORY_KEYS = "RATE_LIMIT_MEMORY_KEYS";

/** A variable for every scope. */
export const RATE_LIMITS = Object.fromEntries(SCOPES.map((scope) => [rateLimitVariable(scope), rateLimit]));

export function readRateLimits(values: Record<string, unknown>): Policies {
  return Object.fromEntries(
    SCOPES.map((scope) => [scope, values[rateLimitVariable(scope)] ?? DEFAULT_POLICIES[scope]]),
  ) as Policies;
}

/** The error for a misspelt name, or `null`: the default would silently stay in force. */
export function unknownRateLimit(variables: Record<string, unknown>): string | null {
  const knownVariables = [...SCOPES.map(rateLimitVariable), MEMORY_KEYS];
  const unknownVariable = Object.keys(variables).find(
    (name) => name.startsWith("RATE_LIMIT_") && !knownVariables.includes(name),
  );
  return unknownVariable === undefined
    ? null
    : `${unknownVariable}: unknown limit, expected one of ${knownVariables.join(", ")}, e.g. RATE_LIMIT_API=30/60`;
}

function rateLimitVariable(scope: Scope): string {
  return `RATE_LIMIT_${scope.replaceAll("-", "_").toUpperCase()}`;
}
