import type { ReactNode } from "react";

/** Empty list: why, and what to do next. */
export function EmptyState({
  title,
  description,
  action,
}: {
  title: string;
  description: string;
  action?: ReactNode;
}) {
  return (
    <div className="flex flex-col items-start gap-3 rounded-box border border-line border-dashed p-6">
      <div>
        <p className="font-medium">{title}</p>
        <p className="max-w-prose text-muted">{description}</p>
      </div>
      {action}
    </div>
  );
}
