import { z } from "zod";
import { format, problem } from "../../domain/refusals/invalid-input.ts";
import { EmailAddress } from "../../domain/users/email-address.ts";
import { PersonName } from "../../domain/users/person-name.ts";

/** The fields passed on to Better Auth; it never sees others. */
export type RequestBody = z.ZodType<Record<string, unknown>>;

const Email = EmailAddress.describe("The email address of the account.");

/** In Unicode characters. */
export const MAX_PASSWORD_LENGTH = 128;

const NewPassword = z
  .string()
  .min(8)
  .max(MAX_PASSWORD_LENGTH)
  .refine(
    (password) => !password.includes("\0") && password.isWellFormed(),
    problem({ problem: "control_characters" }),
  )
  .describe("The new password.");

/** Better Auth checks it: our password rules are not revealed to somebody who is guessing. */
const CurrentPassword = z
  .string()
  .max(1_000)
  .refine((password) => !password.includes("\0"), problem({ problem: "control_characters" }))
  .describe("The current password.");

/** A path or URL; Better Auth checks that its origin is ours. */
const RedirectTarget = z
  .string()
  .max(2_000)
  .optional()
  .describe("Where the link in the mail finally leads: a path or URL of this server.");

const RememberMe = z
  .boolean()
  .optional()
  .describe("Whether the session outlives the browser; defaults to true.");

export const SignUp = z.object({
  name: PersonName.describe("The user's name."),
  email: Email,
  password: NewPassword.describe("The password."),
  rememberMe: RememberMe,
  callbackURL: RedirectTarget,
}) satisfies RequestBody;

export const SignIn: RequestBody = z.object({
  email: Email,
  password: CurrentPassword,
  rememberMe: RememberMe,
});

export const ChangePassword: RequestBody = z
  .object({
    currentPassword: CurrentPassword,
    newPassword: NewPassword,
    revokeApiKeys: z.boolean().default(false).describe("Whether the user's API keys are revoked too."),
  })
  .transform((body) => ({ ...body, revokeOtherSessions: true }));

export const RequestPasswordReset: RequestBody = z.object({
  email: Email,
  redirectTo: RedirectTarget.describe(
    "A path or URL of this server. Accepted for compatibility, but ignored: the link leads to the page that sets the password.",
  ),
});

export const ResetPassword: RequestBody = z.object({
  token: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, format("reset_token"))
    .describe("The token in the mail."),
  newPassword: NewPassword,
});

export const SendVerificationEmail: RequestBody = z.object({ email: Email, callbackURL: RedirectTarget });

export const UpdateUser: RequestBody = z.object({ name: PersonName.describe("The user's name.") });

/** Of `list-sessions`: worthless as a cookie, as it is not signed. */
export const RevokeSession: RequestBody = z.object({
  token: z.string().min(1).max(100).describe("The session's token in the list of sessions."),
});

export const ChangeEmail: RequestBody = z.object({ newEmail: Email.describe("The new email address.") });

export const ConfirmEmailChange: RequestBody = z.object({
  token: z
    .string()
    .regex(/^[A-Za-z0-9_-]{43}$/, format("reset_token"))
    .describe("The token in the mail."),
});

export const PasswordOnly: RequestBody = z
  .object({ password: CurrentPassword })
  .transform((body) => ({ ...body, method: "totp" }));

export const GenerateBackupCodes: RequestBody = z.object({ password: CurrentPassword });

const TrustDevice = z
  .boolean()
  .default(false)
  .describe("Whether this browser needs no second factor for 30 days.");

export const VerifyTotp: RequestBody = z.object({
  code: z
    .string()
    .overwrite((code) => code.replaceAll(/\s/g, ""))
    .regex(/^\d{6}$/, format("totp_code"))
    .describe("The code that the authenticator app shows."),
  trustDevice: TrustDevice,
});

export const VerifyBackupCode: RequestBody = z.object({
  code: z
    .string()
    .overwrite(normalizeBackupCode)
    .regex(/^[A-Za-z0-9-]{5,40}$/, format("recovery_code"))
    .describe("A backup code."),
  trustDevice: TrustDevice,
});

/** A backup code as it was shown. People leave the hyphen out, or write a space or a longer dash in its place. */
function normalizeBackupCode(code: string): string {
  return code.replaceAll(/[\s\p{Pd}]/gu, "").replace(/^(.{5})(.{5})$/, "$1-$2");
}
