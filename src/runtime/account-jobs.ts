import { redactDeleted } from "../accounts/redact-deleted.ts";
import type { Auth } from "../auth/auth.ts";
import { cancelUnwanted } from "../billing/cancel-unwanted.ts";
import { endGrace } from "../billing/end-grace.ts";
import { remindOfGrace } from "../billing/remind-of-grace.ts";
import type { Config } from "../config/config.ts";
import type { JobName } from "../domain/job.ts";
import type { Job } from "../jobs/job-runner.ts";
import { type NotificationMailOptions, notificationMail } from "../mail/mail-notifications.ts";
import { databaseTime } from "../store/database-time.ts";
import type { Runtime } from "./runtime.ts";

const HALF_MINUTE_MS = 30 * 1000;
const MINUTE_MS = 60 * 1000;
const HOUR_MS = 60 * MINUTE_MS;

/** Periodic and deferred work on accounts. */
export function accountJobs(config: Config, runtime: Runtime, auth: Auth): Job<JobName>[] {
  const { database, appUrl, log } = runtime;
  const { smtpUrl, from } = config.mail;
  return [
    ...(smtpUrl === null
      ? []
      : [
          mailJob(auth, {
            database,
            smtpUrl,
            from,
            appUrl,
            plans: config.plans,
            mayMail: auth.mayMailNotifications,
            log,
          }),
        ]),
    { name: "session-clean-up", everyMs: HOUR_MS, run: cleanUpAccounts(auth) },
    {
      name: "unwanted-subscriptions",
      everyMs: HALF_MINUTE_MS,
      run: ({ isStopping }) => cancelUnwanted(runtime, isStopping),
    },
    graceJob(config, runtime),
    { name: "redaction", everyMs: MINUTE_MS, run: ({ isStopping }) => redactDeleted(runtime, isStopping) },
  ];
}

/** By the database's clock: an end recorded too early would emit nothing when it comes. */
export function graceJob(
  { plans }: Pick<Config, "plans">,
  { database }: Pick<Runtime, "database">,
): Job<JobName> {
  return {
    name: "grace-reminders",
    everyMs: MINUTE_MS,
    run: async ({ isStopping }) => {
      const options = { now: await databaseTime(database), isStopping };
      await remindOfGrace({ database, plans }, options);
      await endGrace({ database, plans }, options);
    },
  };
}

export function mailJob(
  { sendDueNotices }: Pick<Auth, "sendDueNotices">,
  options: NotificationMailOptions,
): Job<JobName> {
  const mailDue = notificationMail(options);
  return {
    name: "notification-mail",
    everyMs: HALF_MINUTE_MS,
    run: async ({ isStopping }) => {
      let outcome: "ok" | "failed";
      try {
        await sendDueNotices();
      } finally {
        outcome = await mailDue(isStopping);
      }
      return outcome;
    },
  };
}

function cleanUpAccounts(auth: Auth): Job["run"] {
  return async ({ isStopping }) => {
    while (!isStopping() && (await auth.notifyExpiringKeys()) > 0);
    while (!isStopping() && (await auth.deleteExpired()) > 0);
  };
}
