import { z } from "zod";
import type { DocumentedAuthRoute } from "../../domain/callers/documented-route.ts";
import type { Scope } from "../../limits/policies.ts";
import type { ConfiguredBetterAuth } from "../better-auth.ts";
import type { RequestBody } from "./request-bodies.ts";
import * as bodies from "./request-bodies.ts";
import * as responses from "./response-bodies.ts";

export type AuthScope = Extract<Scope, `auth-${string}` | "api">;

/**
 * Endpoints that are ours: Better Auth confirms only one of the two addresses, by a link that cannot be
 * revoked.
 */
type OwnEndpoint = "requestEmailChange" | "confirmEmailChange";

/** A route below `/api/auth`. */
export type AuthRoute = {
  method: "GET" | "POST";
  /** Below `/api/auth`; may end with `:token`. */
  path: string;
  /** The scope that a request is charged to, by the client's address, `api` by the user. */
  scope: AuthScope;
  endpoint: keyof ConfiguredBetterAuth["api"] | OwnEndpoint;
  summary: string;
  /** `null`: the body is not read. */
  body: RequestBody | null;
  /** Passed on to Better Auth as it was sent, if it is valid. */
  query: z.ZodObject | null;
  output: DocumentedAuthRoute["output"];
  /** Where a browser is redirected that opens the link of a mail without its end. */
  page: string | null;
  /** Better Auth's codes for its errors, besides those that any route may have. */
  codes: readonly string[];
  /** Whether it needs a session: a banned user's does not count, nor one that has ended. */
  needsSession: boolean;
  /** Mounted only where email addresses are confirmed. */
  confirmation: boolean;
  /**
   * Whose failures slow down further guesses: of a password, the named account's or the signed-in user's own;
   * of a code, those of the user whose sign-in waits for it.
   */
  guesses: "account" | "session" | "second factor" | null;
  /** The body's field for the current password. */
  passwordField: "password" | "currentPassword";
  /** Whether the time of the response must not tell if there is such an account. */
  hidesAccounts: boolean;
};

const withSession = { needsSession: true, codes: ["UNAUTHORIZED"] } as const;

const withPassword = {
  needsSession: true,
  guesses: "session",
  codes: ["UNAUTHORIZED", "INVALID_PASSWORD"],
} as const;

const withSecondFactor = {
  needsSession: true,
  guesses: "second factor",
  codes: ["INVALID_TWO_FACTOR_COOKIE", "ACCOUNT_TEMPORARILY_LOCKED", "TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE"],
} as const;

const callbackURL = z.string().describe("Where to redirect: a path or URL of this server.");

// With an empty one, Better Auth redirects to a page of its own, which is not mounted.
const ResetLink = z.object({ callbackURL: callbackURL.min(1) });

const VerificationLink = z.object({
  token: z.string().describe("The token in the mail."),
  callbackURL: callbackURL.optional(),
});

const DEFAULTS = {
  body: null,
  query: null,
  page: null,
  codes: [],
  needsSession: false,
  confirmation: false,
  guesses: null,
  passwordField: "password",
  hidesAccounts: false,
} as const;

type Details = Pick<AuthRoute, "summary" | "output"> & Partial<AuthRoute>;

export const AUTH_ROUTES: readonly AuthRoute[] = [
  post("/sign-up/email", "signUpEmail", "auth-sign-up", {
    summary: "Creates an account and signs in",
    body: bodies.SignUp,
    output: responses.SignedUp,
    codes: ["USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL", "INVALID_CALLBACK_URL"],
  }),
  post("/sign-in/email", "signInEmail", "auth-sign-in", {
    summary: "Signs in with an email address and a password",
    body: bodies.SignIn,
    output: responses.SignedIn,
    guesses: "account",
    codes: ["INVALID_EMAIL_OR_PASSWORD", "EMAIL_NOT_VERIFIED", "BANNED"],
  }),
  post("/sign-out", "signOut", "auth-session", {
    summary: "Ends the session, if there is one",
    output: responses.SignedOut,
  }),
  get("/get-session", "getSession", "api", {
    summary: "Shows the session and its user",
    output: responses.CurrentSession,
    needsSession: true,
  }),
  post("/update-user", "updateUser", "auth-session", {
    ...withSession,
    summary: "Changes the user's name",
    body: bodies.UpdateUser,
    output: responses.Done,
  }),

  get("/list-sessions", "listSessions", "auth-session", {
    ...withSession,
    summary: "Lists the user's sessions",
    output: responses.SessionList,
  }),
  post("/revoke-session", "revokeSession", "auth-session", {
    ...withSession,
    summary: "Ends one of the user's sessions",
    body: bodies.RevokeSession,
    output: responses.Done,
  }),
  post("/revoke-sessions", "revokeSessions", "auth-session", {
    ...withSession,
    summary: "Ends all of the user's sessions",
    output: responses.Done,
  }),
  post("/revoke-other-sessions", "revokeOtherSessions", "auth-session", {
    ...withSession,
    summary: "Ends all of the user's sessions except this one",
    output: responses.Done,
  }),

  post("/change-password", "changePassword", "auth-password", {
    ...withPassword,
    summary: "Changes the password, and ends all other sessions",
    body: bodies.ChangePassword,
    passwordField: "currentPassword",
    output: responses.PasswordChanged,
    codes: [...withPassword.codes, "CREDENTIAL_ACCOUNT_NOT_FOUND"],
  }),
  post("/request-password-reset", "requestPasswordReset", "auth-password", {
    summary: "Sends a link to set a new password, if the account exists",
    body: bodies.RequestPasswordReset,
    output: responses.ResetRequested,
    hidesAccounts: true,
    codes: ["INVALID_REDIRECT_URL"],
  }),
  // Links in mails: opening one must not use up the budget for setting the password.
  get("/reset-password/:token", "requestPasswordResetCallback", "auth-sign-in", {
    summary: "Redirects from the link in the mail to the page that sets the password",
    query: ResetLink,
    page: "/reset-password",
    output: "redirect",
    codes: ["INVALID_CALLBACK_URL"],
  }),
  post("/reset-password", "resetPassword", "auth-password", {
    summary: "Sets a new password; revokes the user's sessions, keys and links",
    body: bodies.ResetPassword,
    output: responses.Done,
    codes: ["INVALID_TOKEN"],
  }),
  post("/change-email", "requestEmailChange", "auth-password", {
    ...withSession,
    summary: "Sends links to the current and the new address; both must be opened",
    body: bodies.ChangeEmail,
    output: responses.Done,
    hidesAccounts: true,
  }),
  post("/confirm-email-change", "confirmEmailChange", "auth-sign-in", {
    summary: "Confirms one of the two addresses of an email change",
    body: bodies.ConfirmEmailChange,
    output: responses.EmailChangeConfirmed,
    codes: ["INVALID_TOKEN", "USER_ALREADY_EXISTS"],
  }),
  get("/verify-email", "verifyEmail", "auth-sign-in", {
    summary: "Confirms an email address by the token in the mail",
    query: VerificationLink,
    page: "/verify-email?done",
    output: { orRedirect: responses.EmailVerified },
    confirmation: true,
    codes: ["INVALID_TOKEN", "TOKEN_EXPIRED", "USER_NOT_FOUND", "INVALID_CALLBACK_URL"],
  }),
  post("/send-verification-email", "sendVerificationEmail", "auth-password", {
    summary: "Sends the link to confirm the email address again",
    body: bodies.SendVerificationEmail,
    output: responses.Done,
    needsSession: true,
    confirmation: true,
    hidesAccounts: true,
    codes: ["EMAIL_MISMATCH", "EMAIL_ALREADY_VERIFIED", "INVALID_CALLBACK_URL"],
  }),

  post("/two-factor/enable", "enableTwoFactor", "auth-password", {
    ...withPassword,
    summary: "Sets up two-factor authentication; a first code then enables it",
    body: bodies.PasswordOnly,
    output: responses.TwoFactorSetUp,
    codes: [...withPassword.codes, "TOTP_ALREADY_ENABLED"],
  }),
  post("/two-factor/disable", "disableTwoFactor", "auth-password", {
    ...withPassword,
    summary: "Disables two-factor authentication",
    body: bodies.PasswordOnly,
    output: responses.Done,
  }),
  post("/two-factor/generate-backup-codes", "generateBackupCodes", "auth-password", {
    ...withPassword,
    summary: "Replaces the backup codes",
    body: bodies.GenerateBackupCodes,
    output: responses.NewBackupCodes,
    codes: [...withPassword.codes, "TWO_FACTOR_NOT_ENABLED"],
  }),
  // With the cookie of a sign-in that waits for its second factor, or with a session to finish setting it up.
  post("/two-factor/verify-totp", "verifyTOTP", "auth-sign-in", {
    ...withSecondFactor,
    summary: "Signs in with a code of the authenticator app, or completes the setup",
    body: bodies.VerifyTotp,
    output: responses.SecondFactorVerified,
    codes: [...withSecondFactor.codes, "INVALID_CODE", "TOTP_NOT_ENABLED"],
  }),
  post("/two-factor/verify-backup-code", "verifyBackupCode", "auth-sign-in", {
    ...withSecondFactor,
    summary: "Signs in with a backup code",
    body: bodies.VerifyBackupCode,
    output: responses.SecondFactorVerified,
    codes: [...withSecondFactor.codes, "INVALID_BACKUP_CODE", "BACKUP_CODES_NOT_ENABLED"],
  }),
];

function get(path: string, endpoint: AuthRoute["endpoint"], scope: AuthScope, details: Details): AuthRoute {
  return { ...DEFAULTS, method: "GET", path, endpoint, scope, ...details };
}

function post(path: string, endpoint: AuthRoute["endpoint"], scope: AuthScope, details: Details): AuthRoute {
  return { ...DEFAULTS, method: "POST", path, endpoint, scope, ...details };
}
