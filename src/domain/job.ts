/**
 * The periodic jobs, each with the schedule (crontab) on which a host without a process of its own calls it.
 */
export const JOB_SCHEDULES = {
  "webhook-retry": "* * * * *",
  "self-heal": "* * * * *",
  "missed-events-sweep": "* * * * *",
  "outbound-events": "* * * * *",
  "unwanted-subscriptions": "* * * * *",
  "grace-reminders": "* * * * *",
  "notification-mail": "* * * * *",
  redaction: "* * * * *",
  "nightly-comparison": "0 * * * *",
  "session-clean-up": "0 * * * *",
  retention: "0 * * * *",
} as const;

export type JobName = keyof typeof JOB_SCHEDULES;

export const JOB_NAMES = Object.keys(JOB_SCHEDULES) as JobName[];

/**
 * How a requested run ended. `already_running`: another process runs the job. `disabled`: this configuration
 * does not need it.
 */
export const JOB_OUTCOMES = ["ok", "already_running", "disabled", "failed"] as const;

export type JobOutcome = (typeof JOB_OUTCOMES)[number];

export function isJobName(name: string): name is JobName {
  return Object.hasOwn(JOB_SCHEDULES, name);
}
