import { getFormatter } from "next-intl/server";

/** How long ago, or how soon; the exact time on hover, and on paper, where "2 days ago" says nothing. */
export async function Time({ at }: { at: Date }) {
  const format = await getFormatter();
  return (
    <time
      dateTime={at.toISOString()}
      title={format.dateTime(at, { dateStyle: "long", timeStyle: "long" })}
      className="whitespace-nowrap print:whitespace-normal print:before:content-[attr(title)]"
    >
      <span className="print:hidden">{format.relativeTime(at, new Date())}</span>
    </time>
  );
}

/** The date of what is known to a day. */
export async function Day({ at }: { at: Date }) {
  const format = await getFormatter();
  return (
    <time dateTime={at.toISOString().slice(0, 10)} className="whitespace-nowrap">
      {format.dateTime(at, { dateStyle: "medium" })}
    </time>
  );
}
