import type { ReactNode } from "react";

/** A compact list of labelled values, side by side where there is room. */
export function InlineFacts({ children }: { children: ReactNode }) {
  return (
    <dl className="grid grid-cols-[max-content_1fr] gap-x-3 gap-y-1 text-sm sm:flex sm:flex-wrap sm:gap-x-6">
      {children}
    </dl>
  );
}

export function InlineFact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="contents sm:flex sm:gap-1.5">
      <dt className="text-muted">{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}
