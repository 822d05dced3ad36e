const DAY_SECONDS = 24 * 60 * 60;

/** A reminder of a payment that is due, and when it is sent, in seconds after the renewal failed. */
export type GraceReminder = {
  stage: "middle" | "last_day";
  fromSeconds: number;
  /** Not sent after this: the next reminder or the end has come. */
  untilSeconds: number;
};

/**
 * The reminders of a grace period after the notification at its beginning: in the middle, and a day before
 * the end. One that would coincide with another or with the beginning is left out.
 */
export function graceReminders(graceDays: number): GraceReminder[] {
  const end = graceDays * DAY_SECONDS;
  const lastDay = end - DAY_SECONDS;
  if (lastDay <= 0) return [];
  const middle = Math.floor(end / 2);
  const last = { stage: "last_day", fromSeconds: lastDay, untilSeconds: end } as const;
  return middle < lastDay ? [{ stage: "middle", fromSeconds: middle, untilSeconds: lastDay }, last] : [last];
}
