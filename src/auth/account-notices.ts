import type { Queryable } from "../store/database.ts";
import {
  claimAccountNotices,
  deleteAccountNotice,
  giveUpAccountNotices,
} from "../store/sign-in/account-notices.ts";
import { accountMail } from "./account-mail.ts";
import type { MailQueue } from "./limited-mail.ts";
import type { Log } from "./log.ts";

type SendDeps = { database: Queryable; mail: MailQueue; log: Log };

/**
 * Sends the notices that their own process did not: it crashed, or the mail server was away for too long. The recipient's
 * limit does not apply. After a crash between sending and deleting, a mail goes out twice.
 */
export async function sendDueNotices({ database, mail, log }: SendDeps): Promise<void> {
  const late = await giveUpAccountNotices(database);
  if (late > 0) log.error({ mails: late }, "mails about accounts not sent within three days: given up");
  for (const { id, kind, to, locale } of await claimAccountNotices(database))
    mail.send(await accountMail(to, locale, { kind }), () => deleteAccountNotice(database, id));
}
