/** The plugin that serves the calendar of renewals. */
export const CALENDAR_PLUGIN = "renewals";

/** The secret address that calendar programs subscribe to. */
export function calendarAddress(appUrl: string, secret: string): string {
  return `${appUrl}/api/plugins/${CALENDAR_PLUGIN}/links/${secret}/calendar.ics`;
}
