"use client";

import { type CopyLabels, ShownOnce } from "../../../../ui/shown-once.tsx";

type Labels = CopyLabels & Record<"shownOnce" | "shownOnceAbout" | "secret", string>;

/** The signing secret just created by the enclosing form. */
export function NewSecret({ labels }: { labels: Labels }) {
  return (
    <ShownOnce<{ secret: string }>
      title={labels.shownOnce}
      about={labels.shownOnceAbout}
      labels={labels}
      texts={({ secret }) => [{ label: labels.secret, text: secret }]}
    />
  );
}
