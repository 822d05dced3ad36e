const DAY_MS = 86_400_000;
/** About five years; more days than that are rarely shown at a time. */
const MAX_DAYS = 2_000;

/** The date part of the text, such as "2026-11-23T", by the number of the day since 1970. */
const dayTexts = new Map<number, string>();
const MINUTES = texts(1_440, (minute) => `${pad(minute / 60, 2)}:${pad(minute % 60, 2)}:`);
const SECONDS = texts(60, (second) => `${pad(second, 2)}.`);
const MILLISECONDS = texts(1_000, (ms) => `${pad(ms, 3)}Z`);

/**
 * What `date.toISOString()` returns, for a third of its cost: V8 formats with `printf`.
 * @throws RangeError for an invalid date
 */
export function isoText(date: Date): string {
  const ms = date.getTime();
  const day = Math.floor(ms / DAY_MS);
  let dayText = dayTexts.get(day);
  if (dayText === undefined) {
    dayText = date.toISOString().slice(0, -"00:00:00.000Z".length);
    if (dayTexts.size === MAX_DAYS) dayTexts.clear();
    dayTexts.set(day, dayText);
  }
  const msOfDay = ms - day * DAY_MS;
  const msOfMinute = msOfDay % 60_000;
  return (
    dayText +
    MINUTES[Math.floor(msOfDay / 60_000)] +
    SECONDS[Math.floor(msOfMinute / 1_000)] +
    MILLISECONDS[msOfMinute % 1_000]
  );
}

function pad(number: number, digits: number): string {
  return String(Math.floor(number)).padStart(digits, "0");
}

function texts(count: number, text: (index: number) => string): string[] {
  return Array.from({ length: count }, (_, index) => text(index));
}
