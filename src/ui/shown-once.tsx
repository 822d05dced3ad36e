"use client";

import { useEffect, useId, useRef, useState } from "react";
import { CopyButton } from "./copy-button.tsx";
import { useOutcome } from "./outcome-context.ts";

type Created = Readonly<Record<string, string>>;

type Props = {
  title: string;
  about: string;
  copyLabels: Record<"copy" | "copied" | "failed", string>;
  /** What is shown, in which a field of what was created stands in braces: `{key}`. */
  texts: readonly { label: string; template: string }[];
};

/**
 * What the enclosing form has just created and cannot be shown again: it exists only in the form's outcome.
 */
export function ShownOnce({ title, about, copyLabels, texts }: Props) {
  const outcome = useOutcome();
  const latest = outcome?.done ? (outcome.value as Created) : null;
  const [created, setCreated] = useState(latest);
  // Stays when a further submission is refused: it may not have been copied yet.
  if (latest !== null && latest !== created) setCreated(latest);
  const container = useRef<HTMLElement>(null);
  const id = useId();
  useEffect(() => {
    if (created !== null) container.current?.focus();
  }, [created]);
  if (created === null) return null;

  const shown = texts.map(({ label, template }) => ({
    label,
    text: template.replace(/\{(\w+)\}/g, (_, name: string) => created[name] ?? ""),
  }));
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
      {shown.map(({ label, text }) => (
        <div key={label} className="flex flex-col gap-1">
          <p className="font-medium text-sm">{label}</p>
          <div className="flex flex-wrap items-start gap-2 sm:flex-nowrap">
            <code className="min-h-9 grow select-all break-all rounded-box border border-line bg-surface px-3 py-1.5 text-sm">
              {text}
            </code>
            <CopyButton key={text} text={text} labels={copyLabels} />
          </div>
        </div>
      ))}
    </section>
  );
}
