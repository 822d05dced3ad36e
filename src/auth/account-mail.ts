import type { Locale } from "../domain/locale.ts";
import type { EmailMessage } from "../mail/email-message.ts";
import { mailTexts } from "../messages/mail-texts.ts";

export type AccountMail =
  | { kind: "password_reset" | "email_confirmation" | "email_change_new"; url: string }
  /** Sent by mail only, so that the sign-up form does not reveal who has an account. */
  | { kind: "existing_account" }
  | { kind: "email_change_old"; url: string; newEmail: string }
  | { kind: "email_changed"; newEmail: string }
  /** Sent whatever notifications the user wants: whoever knows their password could turn those off first. */
  | { kind: TwoFactorChange | "password_changed" | "backup_codes_created" };

export type TwoFactorChange = "two_factor_enabled" | "two_factor_disabled";

/** A mail about an account, in its user's language. */
export async function accountMail(to: string, locale: Locale, mail: AccountMail): Promise<EmailMessage> {
  const t = await mailTexts(locale);
  const { kind, ...values } = mail;
  return { to, subject: t(`account.${kind}.subject`), text: `${t(`account.${kind}.text`, values)}\n` };
}
