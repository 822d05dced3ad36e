"use client";

import { useEffect, useId, useRef, useState } from "react";
import { CopyButton } from "../../../ui/copy-button.tsx";
import { useOutcome } from "../../../ui/form-outcome.ts";

type Labels = Record<
  "shownOnce" | "shownOnceAbout" | "key" | "tryIt" | "copy" | "copied" | "copyFailed",
  string
>;

/** The key just created by the enclosing form; it exists only in the form's outcome. */
export function NewKey({ labels, appUrl }: { labels: Labels; appUrl: string }) {
  const outcome = useOutcome();
  const latest = outcome?.done ? (outcome.value as { id: string; key: string }) : null;
  const [made, setMade] = useState(latest);
  // Stays when a further key is refused: it may not have been copied yet.
  if (latest !== null && latest !== made) setMade(latest);
  const place = useRef<HTMLElement>(null);
  const id = useId();
  useEffect(() => {
    if (made !== null) place.current?.focus();
  }, [made]);
  if (made === null) return null;

  const curl = `curl -H 'Authorization: Bearer ${made.key}' ${appUrl}/api/users/me`;
  const copy = { copy: labels.copy, copied: labels.copied, failed: labels.copyFailed };
  return (
    <section
      ref={place}
      tabIndex={-1}
      aria-labelledby={id}
      className="flex flex-col gap-4 rounded-box border border-good bg-raised p-4"
    >
      <div>
        <h3 id={id} className="font-semibold">
          {labels.shownOnce}
        </h3>
        <p className="text-muted text-sm">{labels.shownOnceAbout}</p>
      </div>
      {[
        { label: labels.key, text: made.key },
        { label: labels.tryIt, text: curl },
      ].map(({ label, text }) => (
        <div key={label} className="flex flex-col gap-1">
          <p className="font-medium text-sm">{label}</p>
          <div className="flex flex-wrap items-start gap-2 sm:flex-nowrap">
            <code className="min-h-9 grow select-all break-all rounded-box border border-line bg-surface px-3 py-1.5 text-sm">
              {text}
            </code>
            <CopyButton key={text} text={text} labels={copy} />
          </div>
        </div>
      ))}
    </section>
  );
}
