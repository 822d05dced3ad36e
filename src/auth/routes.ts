import type { Scope } from "../limits/policies.ts";
import { AUTH_PATH } from "./auth-path.ts";
import type { ConfiguredBetterAuth } from "./better-auth.ts";
import {
  ChangeEmail,
  ChangePassword,
  ConfirmEmailChange,
  GenerateBackupCodes,
  PasswordOnly,
  type RequestBody,
  RequestPasswordReset,
  ResetPassword,
  RevokeSession,
  SendVerificationEmail,
  SignIn,
  SignUp,
  UpdateUser,
  VerifyBackupCode,
  VerifyTotp,
} from "./request-bodies.ts";

export type AuthScope = Extract<Scope, `auth-${string}` | "api">;

/** Endpoints that are ours: Better Auth confirms only one of the two addresses, by a link that cannot be revoked. */
type OwnEndpoint = "requestEmailChange" | "confirmEmailChange";

/** A route below `/api/auth`. */
export type AuthRoute = {
  method: "GET" | "POST";
  path: RegExp;
  /** The scope that a request is charged to, by the client's address. */
  scope: AuthScope;
  endpoint: keyof ConfiguredBetterAuth["api"] | OwnEndpoint;
  /** `null`: the body is not read. */
  body: RequestBody | null;
  /** Whether it needs a session: a banned user's does not count, nor one that has ended. */
  needsSession: boolean;
  /** Mounted only where e-mail addresses are confirmed. */
  confirmation: boolean;
  /** Whose failures slow down further guesses of a password: the named account's, or the signed-in user's own. */
  guesses: "account" | "session" | null;
  /** Whether the time of the response must not tell if there is such an account. */
  hidesAccounts: boolean;
};

const route = (
  method: AuthRoute["method"],
  path: RegExp,
  endpoint: AuthRoute["endpoint"],
  scope: AuthScope,
  more: Partial<AuthRoute> = {},
): AuthRoute => ({
  method,
  path,
  endpoint,
  scope,
  body: null,
  needsSession: false,
  confirmation: false,
  guesses: null,
  hidesAccounts: false,
  ...more,
});

const withSession = { needsSession: true } as const;
const withPassword = { needsSession: true, guesses: "session" } as const;

const ROUTES: readonly AuthRoute[] = [
  route("POST", /^\/sign-up\/email$/, "signUpEmail", "auth-sign-up", { body: SignUp }),
  route("POST", /^\/sign-in\/email$/, "signInEmail", "auth-sign-in", { body: SignIn, guesses: "account" }),
  route("POST", /^\/sign-out$/, "signOut", "auth-session"),
  route("GET", /^\/get-session$/, "getSession", "api", withSession),
  route("POST", /^\/update-user$/, "updateUser", "auth-session", { ...withSession, body: UpdateUser }),

  route("GET", /^\/list-sessions$/, "listSessions", "auth-session", withSession),
  route("POST", /^\/revoke-session$/, "revokeSession", "auth-session", {
    ...withSession,
    body: RevokeSession,
  }),
  route("POST", /^\/revoke-sessions$/, "revokeSessions", "auth-session", withSession),
  route("POST", /^\/revoke-other-sessions$/, "revokeOtherSessions", "auth-session", withSession),

  route("POST", /^\/change-password$/, "changePassword", "auth-password", {
    ...withPassword,
    body: ChangePassword,
  }),
  route("POST", /^\/request-password-reset$/, "requestPasswordReset", "auth-password", {
    body: RequestPasswordReset,
    hidesAccounts: true,
  }),
  // Links in mails: opening one must not use up the budget for setting the password.
  route("GET", /^\/reset-password\/[A-Za-z0-9_-]{1,64}$/, "requestPasswordResetCallback", "auth-sign-in"),
  route("POST", /^\/reset-password$/, "resetPassword", "auth-password", { body: ResetPassword }),
  route("POST", /^\/change-email$/, "requestEmailChange", "auth-password", {
    ...withSession,
    body: ChangeEmail,
    hidesAccounts: true,
  }),
  route("POST", /^\/confirm-email-change$/, "confirmEmailChange", "auth-sign-in", {
    body: ConfirmEmailChange,
  }),
  route("GET", /^\/verify-email$/, "verifyEmail", "auth-sign-in", { confirmation: true }),
  route("POST", /^\/send-verification-email$/, "sendVerificationEmail", "auth-password", {
    ...withSession,
    body: SendVerificationEmail,
    confirmation: true,
    hidesAccounts: true,
  }),

  route("POST", /^\/two-factor\/enable$/, "enableTwoFactor", "auth-password", {
    ...withPassword,
    body: PasswordOnly,
  }),
  route("POST", /^\/two-factor\/disable$/, "disableTwoFactor", "auth-password", {
    ...withPassword,
    body: PasswordOnly,
  }),
  route("POST", /^\/two-factor\/generate-backup-codes$/, "generateBackupCodes", "auth-password", {
    ...withPassword,
    body: GenerateBackupCodes,
  }),
  // With the cookie of a sign-in that waits for its second factor, or with a session to finish setting it up.
  route("POST", /^\/two-factor\/verify-totp$/, "verifyTOTP", "auth-sign-in", {
    ...withSession,
    body: VerifyTotp,
  }),
  route("POST", /^\/two-factor\/verify-backup-code$/, "verifyBackupCode", "auth-sign-in", {
    ...withSession,
    body: VerifyBackupCode,
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
  const matching = ROUTES.filter((route) => route.path.test(rest) && (confirmation || !route.confirmation));
  if (matching.length === 0) return null;
  return (
    matching.find((route) => route.method === method) ?? {
      allow: matching.map((route) => route.method).join(", "),
    }
  );
}
