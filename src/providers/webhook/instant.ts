/** A point in time between the years 1970 and 9999, UTC. */
export type Instant = {
  /** Whole seconds since the epoch. */
  seconds: number;
  /** 0 to 999999, truncated. */
  micros: number;
};

const LAST_SECOND_OF_9999 = 253_402_300_799;

// Every part has a fixed or capped length, so that matching takes linear time.
const RFC_3339 =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/** Parses an RFC 3339 date-time with up to nine fractional digits; `null` when malformed or out of range. */
export function instantOfRfc3339(text: string): Instant | null {
  const match = RFC_3339.exec(text);
  if (match === null) return null;
  const [, year, month, day, hour, minute, second, fraction = "", sign, zoneHour = "0", zoneMinute = "0"] =
    match;
  // `Date.UTC` would take the years 0 to 99 for those of the twentieth century.
  if (Number(year) < 100) return null;
  if (Number(month) < 1 || Number(day) < 1 || Number(day) > daysIn(Number(year), Number(month))) return null;
  // RFC 3339 allows second 60 for leap seconds; it is treated as the next minute's first second.
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return null;
  if (Number(zoneHour) > 23 || Number(zoneMinute) > 59) return null;
  const local = Date.UTC(
    Number(year),
    Number(month) - 1,
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
  );
  const offsetSeconds = (Number(zoneHour) * 60 + Number(zoneMinute)) * (sign === "-" ? -60 : 60);
  return inRange(local / 1000 - offsetSeconds, Number(fraction.slice(0, 6).padEnd(6, "0")));
}

/** `null` when it is not a whole number, or out of range. */
export function instantOfUnixSeconds(seconds: number): Instant | null {
  return Number.isInteger(seconds) ? inRange(seconds, 0) : null;
}

/** Microseconds since the epoch; `null` from June 2255 on, where they stop being exact. */
export function toMicros(instant: Instant): number | null {
  const micros = instant.seconds * 1_000_000 + instant.micros;
  return Number.isSafeInteger(micros) ? micros : null;
}

export function toDate(instant: Instant): Date {
  return new Date(instant.seconds * 1000 + Math.floor(instant.micros / 1000));
}

function inRange(seconds: number, micros: number): Instant | null {
  return seconds >= 0 && seconds <= LAST_SECOND_OF_9999 ? { seconds, micros } : null;
}

// Zero for an invalid month, so that no day is valid.
function daysIn(year: number, month: number): number {
  return month > 12 ? 0 : new Date(Date.UTC(year, month, 0)).getUTCDate();
}
