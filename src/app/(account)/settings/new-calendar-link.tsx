"use client";

import { type CopyLabels, ShownOnce } from "../../../ui/shown-once.tsx";

type Labels = CopyLabels & Record<"shownOnce" | "shownOnceAbout" | "address", string>;

/** The calendar address just created by the enclosing form. */
export function NewCalendarLink({ labels }: { labels: Labels }) {
  return (
    <ShownOnce<{ url: string }>
      title={labels.shownOnce}
      about={labels.shownOnceAbout}
      labels={labels}
      texts={({ url }) => [{ label: labels.address, text: url }]}
    />
  );
}
