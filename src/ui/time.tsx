import { getFormatter } from "next-intl/server";

/** How long ago, or how soon; the exact time on hover. */
export async function Time({ at }: { at: Date }) {
  const format = await getFormatter();
  return (
    <time
      dateTime={at.toISOString()}
      title={format.dateTime(at, { dateStyle: "long", timeStyle: "long" })}
      className="whitespace-nowrap"
    >
      {format.relativeTime(at, new Date())}
    </time>
  );
}
