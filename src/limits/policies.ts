/** At most `limit` requests in any window of `windowSeconds`, wherever it starts. */
export type Limit = { limit: number; windowSeconds: number };

/** What is counted together, with what holds unless the operator says otherwise (`RATE_LIMIT_<SCOPE>`). */
export const DEFAULT_POLICIES = {
  "auth-sign-in": { limit: 10, windowSeconds: 60 },
  "auth-sign-up": { limit: 5, windowSeconds: 60 },
  "auth-password": { limit: 3, windowSeconds: 60 },
  "ai-chat": { limit: 30, windowSeconds: 60 },
  billing: { limit: 5, windowSeconds: 60 },
  admin: { limit: 10, windowSeconds: 60 },
  graphql: { limit: 60, windowSeconds: 60 },
  plugin: { limit: 30, windowSeconds: 60 },
  api: { limit: 30, windowSeconds: 60 },
  settings: { limit: 10, windowSeconds: 60 },
  rpc: { limit: 60, windowSeconds: 60 },
} as const satisfies Record<string, Limit>;

export type Scope = keyof typeof DEFAULT_POLICIES;

export type Policies = Record<Scope, Limit>;

export const SCOPES = Object.keys(DEFAULT_POLICIES) as Scope[];

/** Guessing passwords and spending money must not become unlimited because a shared store is down. */
export function refusesWithoutSharedStore(scope: Scope): boolean {
  return scope.startsWith("auth-") || scope === "billing";
}
