import type { ReactNode } from "react";

/** Names and values of one object. */
export function DescriptionList({ children }: { children: ReactNode }) {
  return <dl className="grid gap-x-8 gap-y-4 sm:grid-cols-2 lg:grid-cols-3">{children}</dl>;
}

export function DescriptionItem({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-muted text-sm">{label}</dt>
      <dd className="wrap-anywhere">{children}</dd>
    </div>
  );
}
