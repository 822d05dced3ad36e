"use client";

import { type CopyLabels, ShownOnce } from "../../../../ui/shown-once.tsx";

type Labels = CopyLabels & Record<"shownOnce" | "shownOnceAbout" | "key", string>;

/** The key just created or rotated by the enclosing form. */
export function NewServiceKey({ labels }: { labels: Labels }) {
  return (
    <ShownOnce<{ key: string }>
      title={labels.shownOnce}
      about={labels.shownOnceAbout}
      labels={labels}
      texts={({ key }) => [{ label: labels.key, text: key }]}
    />
  );
}
