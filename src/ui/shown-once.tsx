"use client";

import { useEffect, useId, useRef, useState } from "react";
import { CopyButton } from "./copy-button.tsx";
import { useOutcome } from "./outcome-context.ts";

export type CopyLabels = Record<"copy" | "copied" | "copyFailed", string>;

/**
 * What the enclosing form has just created and cannot be shown again: it exists only in the form's outcome.
 */
export function ShownOnce<Value>({
  title,
  about,
  labels,
  texts,
}: {
  title: string;
  about: string;
  labels: CopyLabels;
  texts: (value: Value) => readonly { label: string; text: string }[];
}) {
  const outcome = useOutcome();
  const latest = outcome?.done ? (outcome.value as Value) : null;
  const [created, setCreated] = useState(latest);
  // Stays when a further submission is refused: it may not have been copied yet.
  if (latest !== null && latest !== created) setCreated(latest);
  const container = useRef<HTMLElement>(null);
  const id = useId();
  useEffect(() => {
    if (created !== null) container.current?.focus();
  }, [created]);
  if (created === null) return null;

  const copy = { copy: labels.copy, copied: labels.copied, failed: labels.copyFailed };
  return (
    <section
      ref={container}
      tabIndex={-1}
      aria-labelledby={id}
      className="flex flex-col gap-4 rounded-box border border-good bg-raised p-4"
    >
      <div>
        <h3 id={id} className="font-semibold">
          {title}
        </h3>
        <p className="text-muted text-sm">{about}</p>
      </div>
      {texts(created).map(({ label, text }) => (
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
