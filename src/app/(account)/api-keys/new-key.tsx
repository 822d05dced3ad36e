"use client";

import { type CopyLabels, ShownOnce } from "../../../ui/shown-once.tsx";

type Labels = CopyLabels & Record<"shownOnce" | "shownOnceAbout" | "key" | "tryIt", string>;

/** The key just created by the enclosing form. */
export function NewKey({ labels, appUrl }: { labels: Labels; appUrl: string }) {
  return (
    <ShownOnce<{ key: string }>
      title={labels.shownOnce}
      about={labels.shownOnceAbout}
      labels={labels}
      texts={({ key }) => [
        { label: labels.key, text: key },
        { label: labels.tryIt, text: `curl -H 'Authorization: Bearer ${key}' ${appUrl}/api/users/me` },
      ]}
    />
  );
}
