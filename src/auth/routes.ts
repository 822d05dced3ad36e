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

/** One path of Better Auth that the product uses. */
export type AuthRoute = {
  method: "GET" | "POST";
  path: RegExp;
  /** What a request is charged to, by the client's address. */
  scope: AuthScope | null;
  /** `null`: what is sent along is not read. */
  body: RequestBody | null;
  /** Whether it asks who is signed in: a banned user is not. */
  needsSession: boolean;
  /** Only where addresses are confirmed. */
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
  // Links out of mails: opened once or twice, and not to use up what setting the password then costs.
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
 * What serves a method and path (`/api/auth/...`): the route; the methods that the path has instead; or `null`, when
 * there is no such path.
 */
export function authRoute(
  method: string,
  path: string,
  { confirmation }: { confirmation: boolean },
): AuthRoute | { allow: string } | null {
  if (!path.startsWith(`${AUTH_PATH}/`)) return null;
  const rest = path.slice(AUTH_PATH.length);
  const there = ROUTES.filter((one) => one.path.test(rest) && (confirmation || !one.confirmation));
  if (there.length === 0) return null;
  return there.find((one) => one.method === method) ?? { allow: there.map((one) => one.method).join(", ") };
}
