import type { Scope } from "../limits/policies.ts";
import {
  ChangePassword,
  type RequestBody,
  RequestPasswordReset,
  ResetPassword,
  SendVerificationEmail,
  SignIn,
  SignUp,
} from "./request-bodies.ts";

export type AuthScope = Extract<Scope, `auth-${string}` | "api">;

/** A Better Auth route that the product uses. */
export type AuthRoute = {
  method: "GET" | "POST";
  path: RegExp;
  /** The scope that a request is charged to, by the client's address. */
  scope: AuthScope | null;
  /** `null`: the body is not read. */
  body: RequestBody | null;
  /** Whether it needs a session: a banned user's does not count. */
  needsSession: boolean;
  /** Mounted only where e-mail addresses are confirmed. */
  confirmation: boolean;
};

export const AUTH_PATH = "/api/auth";

const route = (
  method: AuthRoute["method"],
  path: RegExp,
  scope: AuthRoute["scope"],
  more: Partial<Pick<AuthRoute, "body" | "needsSession" | "confirmation">> = {},
): AuthRoute => ({ method, path, scope, body: null, needsSession: false, confirmation: false, ...more });

const ROUTES: readonly AuthRoute[] = [
  route("POST", /^\/sign-up\/email$/, "auth-sign-up", { body: SignUp }),
  route("POST", /^\/sign-in\/email$/, "auth-sign-in", { body: SignIn }),
  route("POST", /^\/sign-out$/, null),
  route("GET", /^\/get-session$/, "api", { needsSession: true }),
  route("POST", /^\/change-password$/, "auth-password", { body: ChangePassword, needsSession: true }),
  route("POST", /^\/request-password-reset$/, "auth-password", { body: RequestPasswordReset }),
  // Links in mails: opening one must not use up the budget for setting the password.
  route("GET", /^\/reset-password\/[A-Za-z0-9_-]{1,64}$/, "auth-sign-in"),
  route("POST", /^\/reset-password$/, "auth-password", { body: ResetPassword }),
  route("GET", /^\/verify-email$/, "auth-sign-in", { confirmation: true }),
  route("POST", /^\/send-verification-email$/, "auth-password", {
    body: SendVerificationEmail,
    needsSession: true,
    confirmation: true,
  }),
];

/**
 * The route for a method and path (`/api/auth/...`), the methods allowed on the path when there is none for this
 * method, or `null` for an unknown path.
 */
export function authRoute(
  method: string,
  path: string,
  { confirmation }: { confirmation: boolean },
): AuthRoute | { allow: string } | null {
  if (!path.startsWith(`${AUTH_PATH}/`)) return null;
  const rest = path.slice(AUTH_PATH.length);
  const matching = ROUTES.filter((one) => one.path.test(rest) && (confirmation || !one.confirmation));
  if (matching.length === 0) return null;
  return (
    matching.find((one) => one.method === method) ?? { allow: matching.map((one) => one.method).join(", ") }
  );
}
