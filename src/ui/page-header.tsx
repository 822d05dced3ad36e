import type { ReactNode } from "react";

/** The page's title and main action. */
export function PageHeader({
  title,
  description,
  action,
}: {
  title: string;
  description?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <header className="mb-6 flex flex-wrap items-start justify-between gap-3">
      <div className="min-w-0 wrap-anywhere">
        <h1 className="text-lg font-semibold">{title}</h1>
        {description && <p className="text-muted">{description}</p>}
      </div>
      {action}
    </header>
  );
}
