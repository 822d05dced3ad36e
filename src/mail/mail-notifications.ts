import type { PlanCatalog } from "../domain/plan.ts";
import type { Queryable } from "../store/database.ts";
import {
  claimNotificationMail,
  isNotificationMailDue,
  type NotificationMail,
  releaseNotificationMail,
  settleNotificationMail,
} from "../store/notification-mail.ts";
import { compose } from "./compose.ts";
import type { Log } from "./log.ts";
import { notificationEmail } from "./notification-email.ts";
import type { SmtpErrorDetails } from "./smtp-error.ts";
import { openSmtpSession, type SmtpSession } from "./smtp-session.ts";

export type NotificationMailOptions = {
  database: Queryable;
  smtpUrl: string;
  /** e.g. `Tollgate <no-reply@example.com>` */
  from: string;
  /** The public origin, without a slash at the end. */
  appUrl: string;
  plans: Pick<PlanCatalog, "plans">;
  log: Log;
  /** Milliseconds since the epoch; the clock unless given. */
  now?: () => number;
};

const MIN_PAUSE_SECONDS = 60;
const MAX_PAUSE_SECONDS = 30 * 60;
const MIN_RETRY_SECONDS = 60;
const MAX_RETRY_SECONDS = 60 * 60;
/** Servers close connections that bring more. */
const MAILS_PER_SESSION = 50;

/**
 * Returns a look at what people are to be told by mail, one mail a person. It counts as mailed before it is sent: a
 * process that dies over it takes the mail along, and nobody gets one twice. What was certainly not sent is tried again
 * until it is a day old; while the server as a whole does not serve, more and more rarely.
 */
export function notificationMail(
  options: NotificationMailOptions,
): (isStopping: () => boolean) => Promise<void> {
  const { database, log, now = Date.now } = options;
  let pauseSeconds = 0;
  let notBefore = Number.NEGATIVE_INFINITY;

  return async (isStopping) => {
    const late = await settleNotificationMail(database);
    if (late > 0) log.error({ notifications: late }, "not mailed within a day: given up");
    if (now() < notBefore || !(await isNotificationMailDue(database))) return;
    const trouble = await sendAllDue(options, isStopping);
    if (trouble === null) {
      pauseSeconds = 0;
      return;
    }
    pauseSeconds = Math.min(Math.max(2 * pauseSeconds, MIN_PAUSE_SECONDS), MAX_PAUSE_SECONDS);
    notBefore = now() + pauseSeconds * 1000;
    log.warn({ ...trouble, pauseSeconds }, "notifications cannot be mailed: check SMTP_URL");
  };
}

/** Returns what keeps all mail from being sent, or `null`. */
async function sendAllDue(
  options: NotificationMailOptions,
  isStopping: () => boolean,
): Promise<SmtpErrorDetails | null> {
  for (;;) {
    // Before anything is claimed: a server that is not there costs nobody a mail.
    const session = await openSmtpSession(options.smtpUrl);
    if ("trouble" in session) return session.trouble;
    try {
      const { isDone, trouble } = await sendBatch(session, options, isStopping);
      if (isDone) return trouble;
    } finally {
      session.close();
    }
  }
}

type BatchResult = { isDone: boolean; trouble: SmtpErrorDetails | null };

const DONE: BatchResult = { isDone: true, trouble: null };
const RECONNECT: BatchResult = { isDone: false, trouble: null };

async function sendBatch(
  session: SmtpSession,
  { database, from, appUrl, plans, log }: NotificationMailOptions,
  isStopping: () => boolean,
): Promise<BatchResult> {
  for (let mails = 0; mails < MAILS_PER_SESSION; mails += 1) {
    if (isStopping()) return DONE;
    const mail = await claimNotificationMail(database);
    if (mail === null) return DONE;
    const handed = await session.send(await compose(from, notificationEmail(mail, { appUrl, plans })));
    const notifications = mail.notifications.map(({ id }) => id);
    if (handed.outcome === "taken") {
      log.info({ notifications }, "notifications mailed");
      continue;
    }
    const said = { notifications, ...handed.trouble };
    switch (handed.outcome) {
      case "refused":
        log.warn(said, "a mail was refused: not tried again");
        return RECONNECT;
      case "later":
        await releaseNotificationMail(database, mail, retryInSeconds(mail));
        log.warn(said, "a mail was not taken now: tried again");
        return RECONNECT;
      case "unsent":
        // Behind the others: it may be this mail after all that the server stumbles over.
        await releaseNotificationMail(database, mail, retryInSeconds(mail));
        return { isDone: true, trouble: handed.trouble };
      case "unknown":
        log.error(said, "the mail server broke off: the mail may have been sent, and is not tried again");
        return { isDone: true, trouble: handed.trouble };
      default:
        handed satisfies never;
    }
  }
  return RECONNECT;
}

/** The older, the more rarely: each wait is as long as all before it together. */
function retryInSeconds({ ageSeconds }: NotificationMail): number {
  return Math.min(Math.max(ageSeconds, MIN_RETRY_SECONDS), MAX_RETRY_SECONDS);
}
