import { z } from "zod";

// For the document of the API; Better Auth makes the responses.

const AuthUser = z
  .object({
    id: z.string().describe("The user's id."),
    name: z.string().describe("The user's name."),
    email: z.string().describe("The user's email address."),
    emailVerified: z.boolean().describe("Whether the email address is confirmed."),
    image: z.string().nullable().describe("Always null."),
    twoFactorEnabled: z.boolean().describe("Whether signing in needs a second factor."),
    createdAt: z.date().describe("When the account was created."),
    updatedAt: z.date().describe("When the account last changed."),
  })
  .meta({ id: "AuthUser", description: "A user, as Better Auth shows one." });

const AuthSession = z
  .object({
    id: z.string().describe("The session's id."),
    token: z
      .string()
      .describe("Identifies the session in `/auth/revoke-session`; it is not valid as a cookie."),
    userId: z.string().describe("The user who is signed in."),
    expiresAt: z.date().describe("When it expires."),
    createdAt: z.date().describe("When the user signed in."),
    updatedAt: z.date().describe("When it was last renewed."),
    ipAddress: z.string().nullable().describe("The network address that signed in."),
    userAgent: z.string().nullable().describe("The browser or program that signed in."),
  })
  .meta({ id: "AuthSession", description: "A session of a signed-in user." });

const status = z.literal(true).describe("Always true.");
const user = AuthUser.describe("The user.");
const token = z.string().describe("The session's token. Requests authenticate by the cookie, not by this.");

export const Done = z.object({ status });

export const SignedOut = z.object({ success: z.literal(true).describe("Always true.") });

export const SignedUp = z.object({
  token: token.nullable().describe("The session's token; `null` until the email address is confirmed."),
  user,
});

export const SignedIn = z.union([
  z.object({
    redirect: z.boolean().describe("Always false."),
    token,
    user,
  }),
  z.object({
    twoFactorRedirect: z.literal(true).describe("A second factor is needed to sign in."),
    twoFactorMethods: z.array(z.string()).describe("The second factors that are set up."),
  }),
]);

export const CurrentSession = z
  .object({ session: AuthSession.describe("The session."), user })
  .nullable()
  .describe("`null` without a session.");

export const SessionList = z.array(AuthSession).describe("The user's sessions.");

export const PasswordChanged = z.object({
  token: token.nullable().describe("The token of the new session, which replaces all others."),
  user,
});

export const ResetRequested = z.object({
  status,
  message: z.string().describe("The same whether or not the account exists."),
});

export const EmailChangeConfirmed = z.object({
  status,
  changed: z
    .boolean()
    .describe("Whether the address has changed: false until the other one is confirmed too."),
});

export const EmailVerified = z.object({ status, user: z.null().describe("Always null.") });

export const TwoFactorSetUp = z.object({
  method: z.literal("totp").describe("Always `totp`."),
  totpURI: z.string().describe("For an authenticator app, usually as a QR code."),
  backupCodes: z.array(z.string()).describe("Backup codes, each valid for one sign-in."),
});

export const NewBackupCodes = z.object({
  status,
  backupCodes: z.array(z.string()).describe("The new backup codes; the old ones no longer work."),
});

export const SecondFactorVerified = z.object({ token, user });
