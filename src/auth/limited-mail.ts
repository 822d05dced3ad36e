import type { Locale } from "../domain/locale.ts";
import type { MailOutcome } from "../mail/email-message.ts";
import type { Mail } from "../mail/mail.ts";
import type { Queryable } from "../store/database.ts";
import { takeMailTo } from "../store/notifications/mail-recipients.ts";
import { type AccountMail, accountMail } from "./account-mail.ts";
import type { Log } from "./log.ts";

export type MailQueue = Pick<Mail, "send">;

/**
 * Resolves before the mail is delivered.
 * @param onEnd called once the mail is no longer in memory; `done` for one that is dropped
 */
export type SendMail = (
  to: string,
  locale: Locale,
  mail: AccountMail,
  onEnd?: (outcome: MailOutcome) => Promise<void>,
) => Promise<void>;

/**
 * Mails that strangers can cause: at most five of a kind to one recipient in 15 minutes, the others are dropped in
 * silence. Each kind is counted apart: notices of sign-ups must not keep the link to a new password from anybody.
 */
export function limitedMail(
  { database, mail, log }: { database: Queryable; mail: MailQueue; log: Log },
  hash: (email: string) => string,
): SendMail {
  return async (to, locale, about, onEnd) => {
    const { kind } = about;
    if (await takeMailTo(database, `${kind}:${hash(to)}`)) {
      mail.send(await accountMail(to, locale, about), onEnd);
      return;
    }
    log.warn({ kind }, "a mail was not sent: too many to one recipient");
    await onEnd?.("done");
  };
}
