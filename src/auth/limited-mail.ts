import type { EmailMessage } from "../mail/email-message.ts";
import type { Queryable } from "../store/database.ts";
import { takeMailTo } from "../store/mail-recipients.ts";
import type { Log } from "./log.ts";

/** Resolves before the mail is delivered. */
export type SendMail = (message: EmailMessage) => Promise<void>;

/**
 * Mails that strangers can cause: at most five to one recipient in 15 minutes, the others are dropped in
 * silence.
 */
export function limitedMail(
  { database, mail, log }: { database: Queryable; mail: { send(message: EmailMessage): void }; log: Log },
  hash: (email: string) => string,
): SendMail {
  return async (message) => {
    if (await takeMailTo(database, hash(message.to))) mail.send(message);
    else log.warn({ subject: message.subject }, "a mail was not sent: too many to one recipient");
  };
}
