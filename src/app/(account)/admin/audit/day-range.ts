const DAY_MS = 24 * 3600 * 1000;

/** The first and last day to filter by: with a `max`, browsers accept no five-digit year. */
export const DAY_LIMITS = { min: "1000-01-01", max: "2999-12-31" };

/**
 * The times (UTC) from the start of one day to the end of another, `YYYY-MM-DD` each; `null` for what is not
 * a day.
 */
export function dayRange(
  from: string | undefined,
  to: string | undefined,
): { from: string | null; to: string | null } {
  const end = startOfDay(to);
  return {
    from: startOfDay(from)?.toISOString() ?? null,
    to: end ? new Date(end.getTime() + DAY_MS).toISOString() : null,
  };
}

function startOfDay(day: string | undefined): Date | null {
  if (day === undefined || !/^[12]\d{3}-\d{2}-\d{2}$/.test(day)) return null;
  const start = new Date(`${day}T00:00:00Z`);
  // Some days that no month has are read as days of the next one, others as no day at all.
  return !Number.isNaN(start.getTime()) && start.toISOString().startsWith(day) ? start : null;
}
