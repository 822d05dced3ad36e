import { z } from "zod";
import { PersonName } from "../domain/person-name.ts";

/** What Better Auth is given of a body. Fields that are not named here never reach it. */
export type RequestBody = z.ZodType<Record<string, unknown>>;

const LONGEST_ADDRESS = 254;

const Email = z
  .string("expected an e-mail address")
  .trim()
  .toLowerCase()
  .max(LONGEST_ADDRESS, `expected at most ${LONGEST_ADDRESS} characters`)
  .pipe(z.email("expected an e-mail address"));

/** Better Auth's own bounds, in UTF-16 units. */
const NewPassword = z
  .string("expected text")
  .min(8, "expected at least 8 characters")
  .max(128, "expected at most 128 characters")
  .refine((password) => !password.includes("\0") && password.isWellFormed(), "expected text without NUL");

/** Whether it is right is for Better Auth to say; no rule of ours is told to somebody who guesses. */
const GivenPassword = z
  .string("expected text")
  .max(1_000, "expected at most 1000 characters")
  .refine((password) => !password.includes("\0"), "expected text without NUL");

/** A path of ours, or a URL: Better Auth sees to it that the origin is one of ours. */
const Place = z.string("expected a path or a URL").max(2_000, "expected at most 2000 characters").optional();

const RememberMe = z.boolean("expected true or false").optional();

export const SignUp: RequestBody = z.object({
  name: PersonName,
  email: Email,
  password: NewPassword,
  rememberMe: RememberMe,
  callbackURL: Place,
});

export const SignIn: RequestBody = z.object({
  email: Email,
  password: GivenPassword,
  rememberMe: RememberMe,
});

export const ChangePassword: RequestBody = z
  .object({ currentPassword: GivenPassword, newPassword: NewPassword })
  .transform((given) => ({ ...given, revokeOtherSessions: true }));

export const RequestPasswordReset: RequestBody = z.object({
  email: Email,
  redirectTo: Place.transform((place) => place ?? "/reset-password"),
});

export const ResetPassword: RequestBody = z.object({
  token: z
    .string("expected the token of the mail")
    .regex(/^[A-Za-z0-9_-]{1,64}$/, "expected the token of the mail"),
  newPassword: NewPassword,
});

export const SendVerificationEmail: RequestBody = z.object({ email: Email, callbackURL: Place });
