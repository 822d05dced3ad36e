import type { PlanCatalog } from "../domain/plans/plan.ts";
import type { Queryable } from "../store/database.ts";
import {
  claimNotificationMail,
  isNotificationMailDue,
  type NotificationMail,
  releaseNotificationMail,
  settleNotificationMail,
} from "../store/notifications/notification-mail.ts";
import { type Composed, compose } from "./compose.ts";
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
  /** Whether another mail may go to this address now; counts it if so. */
  mayMail(email: string): Promise<boolean>;
  log: Log;
  /** In milliseconds; a clock that nobody sets back unless given. */
  now?: () => number;
};

const MIN_PAUSE_SECONDS = 60;
const MAX_PAUSE_SECONDS = 30 * 60;
const MIN_RETRY_SECONDS = 60;
const MAX_RETRY_SECONDS = 60 * 60;
/** What is new by then is in the same mail. */
const MAILED_TOO_OFTEN_SECONDS = 5 * 60;
/** Servers close connections that send more. */
const MAILS_PER_SESSION = 50;

/**
 * Returns one run of the job that mails notifications, one mail per user. Notifications count as mailed
 * before the mail is sent, so that a crash may lose a mail but never sends it twice. Mail that was certainly
 * not sent is retried until it is a day old; while the whole server fails, with growing pauses, in which runs
 * count as failed.
 */
export function notificationMail(
  options: NotificationMailOptions,
): (isStopping: () => boolean) => Promise<"ok" | "failed"> {
  const { database, log, now = () => performance.now() } = options;
  let pauseSeconds = 0;
  let notBefore = Number.NEGATIVE_INFINITY;

  return async (isStopping) => {
    const expired = await settleNotificationMail(database);
    if (expired > 0) log.error({ notifications: expired }, "notifications not mailed within a day: given up");
    if (now() < notBefore) return "failed";
    if (!(await isNotificationMailDue(database))) return "ok";
    const nextPauseSeconds = Math.min(Math.max(2 * pauseSeconds, MIN_PAUSE_SECONDS), MAX_PAUSE_SECONDS);
    const error = await sendAllDue(options, { isStopping, nextPauseSeconds });
    if (error === null) {
      pauseSeconds = 0;
      return "ok";
    }
    pauseSeconds = nextPauseSeconds;
    notBefore = now() + pauseSeconds * 1000;
    log.warn({ ...error, pauseSeconds }, "notifications cannot be mailed: check SMTP_URL");
    return "failed";
  };
}

type Run = { isStopping: () => boolean; nextPauseSeconds: number };

/** Returns the error that keeps all mail from being sent, or `null`. */
async function sendAllDue(options: NotificationMailOptions, run: Run): Promise<SmtpErrorDetails | null> {
  for (;;) {
    // Before any claim: while the server is down no mail is lost.
    const session = await openSmtpSession(options.smtpUrl);
    if ("error" in session) return session.error;
    try {
      const { isDone, error } = await sendBatch(session, options, run);
      if (isDone) return error;
    } finally {
      session.close();
    }
  }
}

type BatchResult = { isDone: boolean; error: SmtpErrorDetails | null };

const DONE: BatchResult = { isDone: true, error: null };
const RECONNECT: BatchResult = { isDone: false, error: null };

async function sendBatch(
  session: SmtpSession,
  options: NotificationMailOptions,
  { isStopping, nextPauseSeconds }: Run,
): Promise<BatchResult> {
  const { database, log } = options;
  for (let mails = 0; mails < MAILS_PER_SESSION; mails += 1) {
    if (isStopping()) return DONE;
    const mail = await claimNotificationMail(database);
    if (mail === null) return DONE;
    // It is claimed: what cannot be counted is sent all the same, as it would be lost.
    const mayMail = await options.mayMail(mail.to).catch(() => true);
    if (!mayMail) {
      await releaseNotificationMail(database, mail, MAILED_TOO_OFTEN_SECONDS);
      continue;
    }
    const notifications = mail.notifications.map(({ id }) => id);
    const composed = await composeNotification(mail, options).catch(async (err: unknown) => {
      await releaseNotificationMail(database, mail, retryInSeconds(mail));
      log.error({ err, notifications }, "notification mail could not be composed: retried later");
      return null;
    });
    if (composed === null) continue;
    const result = await session.send(composed);
    if (result.outcome === "accepted") {
      log.info({ notifications }, "notifications mailed");
      continue;
    }
    const fields = { notifications, ...result.error };
    switch (result.outcome) {
      case "rejected":
        log.warn(fields, "mail rejected: not retried");
        return RECONNECT;
      case "deferred":
        await releaseNotificationMail(database, mail, retryInSeconds(mail));
        log.warn(fields, "mail deferred: retried later");
        return RECONNECT;
      case "unsent":
        // This mail may be what makes the server fail: after the pause it is the others' turn.
        await releaseNotificationMail(database, mail, Math.max(retryInSeconds(mail), 2 * nextPauseSeconds));
        return { isDone: true, error: result.error };
      case "unknown":
        log.error(fields, "connection lost while sending: the mail may have been sent, and is not retried");
        return { isDone: true, error: result.error };
      default:
        result satisfies never;
    }
  }
  return RECONNECT;
}

async function composeNotification(
  mail: NotificationMail,
  { from, appUrl, plans }: NotificationMailOptions,
): Promise<Composed> {
  return compose(from, await notificationEmail(mail, { appUrl, plans }));
}

/** Doubles: each wait is as long as all waits before it together. */
function retryInSeconds({ ageSeconds }: NotificationMail): number {
  return Math.min(Math.max(ageSeconds, MIN_RETRY_SECONDS), MAX_RETRY_SECONDS);
}
