import type { Config } from "../config/config.ts";
import { SLOTS, type Slot } from "../domain/slot.ts";
import { traitsOf, wireFormats } from "../providers/registry.ts";
import type { Database } from "../store/database.ts";
import { broken, type Finding, good } from "./finding.ts";

export const LIVE_EVENTS = "live events";

// The text, as `->>` fails on bodies with \u0000. Quotes within a string are escaped, and match nothing.
const SLOTS_WITH_TEST_EVENTS = {
  name: "doctor_test_events",
  text: `
select distinct d.provider as slot
from (
  select provider, format, payload, received_at from webhook_delivery order by id desc limit 1000
) d
join unnest($1::text[], $2::text[]) as mark (format, pattern) on mark.format = d.format
where d.received_at > clock_timestamp() - interval '1 day' and d.payload::text ~ mark.pattern`,
};

/** Whether a slot accepts events of its provider's test mode: its secret is that of a test endpoint. */
export async function checkLiveEvents(database: Database, { slots }: Config): Promise<Finding> {
  const marks = wireFormats().flatMap((format) => {
    const mark = traitsOf(format).testEventMark;
    return mark === null ? [] : { format, pattern: `"${mark.field}"\\s*:\\s*${mark.value}` };
  });
  const found = await database.run<{ slot: Slot }>(SLOTS_WITH_TEST_EVENTS, [
    marks.map(({ format }) => format),
    marks.map(({ pattern }) => pattern),
  ]);
  const names = SLOTS.filter((slot) => found.some((row) => row.slot === slot));
  if (names.length === 0) return good(LIVE_EVENTS, "none of a test mode in the last 24 hours");
  const variables = names.map((slot) => slots[slot].secretVariable).join(", ");
  return broken(
    LIVE_EVENTS,
    `${names.join(", ")}: events of the provider's test mode were accepted in the last 24 hours, which nobody pays for`,
    `Set ${variables} to the secret of the live endpoint alone, and delete that of the test mode.`,
  );
}
