"use client";

import { useOutcome } from "../../../../ui/outcome-context.ts";

export function BackupCodes({ label, codes }: { label: string; codes: readonly string[] }) {
  return (
    <section className="rounded-box border border-good bg-raised p-4">
      <p className="mb-3 max-w-prose">{label}</p>
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

/** The codes that the form around this has created. */
export function NewBackupCodes({ label }: { label: string }) {
  const outcome = useOutcome();
  if (!outcome?.done) return null;
  return <BackupCodes label={label} codes={(outcome.value as { backupCodes: string[] }).backupCodes} />;
}
