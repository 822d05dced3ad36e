"use client";

import { type RefObject, useEffect, useId, useRef } from "react";
import { useOutcome } from "../../../../ui/outcome-context.ts";

export function BackupCodes({
  label,
  codes,
  section,
}: {
  label: string;
  codes: readonly string[];
  section?: RefObject<HTMLElement | null>;
}) {
  const id = useId();
  return (
    <section
      ref={section}
      tabIndex={-1}
      aria-labelledby={id}
      className="rounded-box border border-good bg-raised p-4"
    >
      <p id={id} className="mb-3 max-w-prose">
        {label}
      </p>
      <ul className="grid max-w-md grid-cols-2 gap-x-6 gap-y-1 font-mono">
        {codes.map((code) => (
          <li key={code} className="select-all">
            {code}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The codes that the form around this has created. They take the focus: they are the only sign that it has. */
export function NewBackupCodes({ label }: { label: string }) {
  const outcome = useOutcome();
  const section = useRef<HTMLElement>(null);
  useEffect(() => {
    if (outcome?.done) section.current?.focus();
  }, [outcome]);
  if (!outcome?.done) return null;
  const { backupCodes } = outcome.value as { backupCodes: string[] };
  return <BackupCodes label={label} codes={backupCodes} section={section} />;
}
