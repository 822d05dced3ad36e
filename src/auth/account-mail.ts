import type { Locale } from "../domain/locale.ts";
import type { AccountNotice } from "../domain/notifications/account-notice.ts";
import type { EmailMessage } from "../mail/email-message.ts";
import { mailTexts } from "../messages/mail-texts.ts";

export type AccountMail =
  | { kind: "password_reset" | "email_confirmation" | "email_change_new"; url: string }
  /** Sent by mail only, so that the sign-up form does not reveal who has an account. */
  | { kind: "existing_account" }
  | { kind: "email_change_old"; url: string; newEmail: string }
  | { kind: "email_changed"; newEmail: string }
  | { kind: AccountNotice };

/** A mail about an account, in its user's language. */
export async function accountMail(to: string, locale: Locale, mail: AccountMail): Promise<EmailMessage> {
  const t = await mailTexts(locale);
  const { kind, ...values } = mail;
  return { to, subject: t(`account.${kind}.subject`), text: `${t(`account.${kind}.text`, values)}\n` };
}
