import { z } from "zod";
import { PersonName } from "../domain/person-name.ts";

/** The fields passed on to Better Auth; it never sees others. */
export type RequestBody = z.ZodType<Record<string, unknown>>;

const MAX_EMAIL_LENGTH = 254;

const Email = z
  .string("expected an e-mail address")
  .trim()
  .toLowerCase()
  .max(MAX_EMAIL_LENGTH, `expected at most ${MAX_EMAIL_LENGTH} characters`)
  .pipe(z.email("expected an e-mail address"));

/** Better Auth's own bounds, in UTF-16 units. */
const NewPassword = z
  .string("expected text")
  .min(8, "expected at least 8 characters")
  .max(128, "expected at most 128 characters")
  .refine((password) => !password.includes("\0") && password.isWellFormed(), "expected text without NUL");

/** Better Auth checks it: our password rules are not revealed to somebody who is guessing. */
const CurrentPassword = z
  .string("expected text")
  .max(1_000, "expected at most 1000 characters")
  .refine((password) => !password.includes("\0"), "expected text without NUL");

/** A path or URL; Better Auth checks that its origin is ours. */
const RedirectTarget = z
  .string("expected a path or a URL")
  .max(2_000, "expected at most 2000 characters")
  .optional();

const RememberMe = z.boolean("expected true or false").optional();

export const SignUp = z.object({
  name: PersonName,
  email: Email,
  password: NewPassword,
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
    revokeApiKeys: z.boolean("expected true or false").default(false),
  })
  .transform((body) => ({ ...body, revokeOtherSessions: true }));

export const RequestPasswordReset: RequestBody = z.object({
  email: Email,
  redirectTo: RedirectTarget.transform((place) => place ?? "/reset-password"),
});

export const ResetPassword: RequestBody = z.object({
  token: z
    .string("expected the token of the mail")
    .regex(/^[A-Za-z0-9_-]{1,64}$/, "expected the token of the mail"),
  newPassword: NewPassword,
});

export const SendVerificationEmail: RequestBody = z.object({ email: Email, callbackURL: RedirectTarget });

export const UpdateUser: RequestBody = z.object({ name: PersonName });

/** Of `list-sessions`: worthless as a cookie, as it is not signed. */
export const RevokeSession: RequestBody = z.object({ token: z.string("expected text").min(1).max(100) });

export const ChangeEmail: RequestBody = z.object({ newEmail: Email });

export const ConfirmEmailChange: RequestBody = z.object({
  token: z
    .string("expected the token of the mail")
    .regex(/^[A-Za-z0-9_-]{43}$/, "expected the token of the mail"),
});

export const PasswordOnly: RequestBody = z
  .object({ password: CurrentPassword })
  .transform((body) => ({ ...body, method: "totp" }));

export const GenerateBackupCodes: RequestBody = z.object({ password: CurrentPassword });

const TrustDevice = z.boolean("expected true or false").default(false);

export const VerifyTotp: RequestBody = z.object({
  code: z
    .string("expected 6 digits")
    .trim()
    .regex(/^\d{6}$/, "expected 6 digits"),
  trustDevice: TrustDevice,
});

export const VerifyBackupCode: RequestBody = z.object({
  code: z
    .string("expected a recovery code")
    .trim()
    .regex(/^[A-Za-z0-9-]{5,40}$/, "expected a recovery code"),
  trustDevice: TrustDevice,
});
