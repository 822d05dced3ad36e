import type { ReactNode } from "react";

/** The page's one title, and its one main action. */
export function PageHeader({
  title,
  about,
  action,
}: {
  title: string;
  about?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <header className="mb-6 flex flex-wrap items-start justify-between gap-3">
      <div>
        <h1 className="text-lg font-semibold">{title}</h1>
        {about && <p className="text-muted">{about}</p>}
      </div>
      {action}
    </header>
  );
}
