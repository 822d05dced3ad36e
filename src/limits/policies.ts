/** At most `limit` requests in any window of `windowSeconds`, wherever it starts. */
export type Limit = { limit: number; windowSeconds: number };

/**
 * A limit as text, `limit/windowSeconds`: at most 1000000/99999.
 * `[/]`: `\/` in the document is no valid TypeScript in a generator's code.
 */
export const LIMIT_TEXT = /^(?:[1-9]\d{0,5}|1000000)[/][1-9]\d{0,4}$/;

/** @param text matches `LIMIT_TEXT` */
export function toLimit(text: string): Limit {
  const [limit, windowSeconds] = text.split("/").map(Number) as [number, number];
  return { limit, windowSeconds };
}

/** The inverse of `toLimit`. */
export function limitText({ limit, windowSeconds }: Limit): string {
  return `${limit}/${windowSeconds}`;
}

/** One scope per group of requests that are counted together; `RATE_LIMIT_<SCOPE>` overrides its default. */
export const DEFAULT_POLICIES = {
  "auth-sign-in": { limit: 10, windowSeconds: 60 },
  "auth-sign-up": { limit: 5, windowSeconds: 60 },
  "auth-password": { limit: 3, windowSeconds: 60 },
  "auth-session": { limit: 30, windowSeconds: 60 },
  "auth-key": { limit: 30, windowSeconds: 60 },
  pages: { limit: 300, windowSeconds: 60 },
  "ai-chat": { limit: 30, windowSeconds: 60 },
  "ai-chat-day": { limit: 500, windowSeconds: 86_400 },
  billing: { limit: 5, windowSeconds: 60 },
  admin: { limit: 10, windowSeconds: 60 },
  graphql: { limit: 60, windowSeconds: 60 },
  plugin: { limit: 30, windowSeconds: 60 },
  api: { limit: 30, windowSeconds: 60 },
  settings: { limit: 10, windowSeconds: 60 },
  rpc: { limit: 60, windowSeconds: 60 },
} as const satisfies Record<string, Limit>;

export type Scope = keyof typeof DEFAULT_POLICIES;

/** Service keys have a limit each, which is stored with the key. */
export type ChargedScope = Scope | "service-key";

export const DEFAULT_SERVICE_KEY_LIMIT: Limit = { limit: 600, windowSeconds: 60 };

export type Policies = Record<Scope, Limit>;

export const SCOPES = Object.keys(DEFAULT_POLICIES) as Scope[];

/** Guessing passwords and spending money must not become unlimited because a shared store is down. */
const REFUSED_WITHOUT_SHARED_STORE: ReadonlySet<string> = new Set<Scope>([
  "auth-sign-in",
  "auth-sign-up",
  "auth-password",
  "billing",
]);

/** @param scope of any key, also of one that is not in the table */
export function isRefusedWithoutSharedStore(scope: string): boolean {
  return REFUSED_WITHOUT_SHARED_STORE.has(scope);
}
