import type { MailOutcome } from "../mail/email-message.ts";
import type { Queryable } from "../store/database.ts";
import {
  claimAccountNotices,
  deleteAccountNotice,
  extendAccountNotices,
  giveUpAccountNotices,
} from "../store/sign-in/account-notices.ts";
import { accountMail } from "./account-mail.ts";
import type { MailQueue } from "./limited-mail.ts";
import type { Log } from "./log.ts";

export type AccountNotices = {
  /**
   * Sends the mail of a stored notice, and deletes the notice once that is done with. Rejects if it was not queued.
   * @param queue passes `onEnd` to the mail
   */
  send(id: string, queue: (onEnd: (outcome: MailOutcome) => Promise<void>) => Promise<void>): Promise<void>;
  /**
   * Sends the notices that their own process did not: it crashed, or the mail server was away for too long. The
   * recipient's limit does not apply. After a crash between sending and deleting, a mail goes out twice.
   */
  sendDue(): Promise<void>;
};

/** Mails of other kinds wait in the same memory while the mail server is away: links to new passwords must find room there. */
const MAX_QUEUED = 50;

export function accountNotices({
  database,
  mail,
  log,
}: {
  database: Queryable;
  mail: MailQueue;
  log: Log;
}): AccountNotices {
  /** The ids of those whose mail is in this process's memory: nobody may send a second one meanwhile. */
  const queued = new Set<string>();

  const send: AccountNotices["send"] = async (id, queue) => {
    const onEnd = async (outcome: MailOutcome) => {
      try {
        if (outcome === "done") await deleteAccountNotice(database, id);
      } finally {
        queued.delete(id);
      }
    };
    queued.add(id);
    try {
      await queue(onEnd);
    } catch (error) {
      queued.delete(id);
      throw error;
    }
  };

  return {
    send,
    sendDue: async () => {
      const late = await giveUpAccountNotices(database);
      if (late > 0) log.error({ mails: late }, "mails about accounts not sent within three days: given up");
      // First: what is still in memory is not claimed.
      await extendAccountNotices(database, [...queued]);
      const limit = Math.max(MAX_QUEUED - queued.size, 0);
      for (const { id, kind, to, locale } of await claimAccountNotices(database, limit)) {
        await send(id, async (onEnd) => mail.send(await accountMail(to, locale, { kind }), onEnd)).catch(
          // Such as of a kind that only a later release has.
          (err: unknown) =>
            log.error({ err, kind }, "a mail about an account could not be queued: retried later"),
        );
      }
    },
  };
}
