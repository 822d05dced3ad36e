import type { ReactNode } from "react";

/** A page for a single form or message. */
export function NarrowPage({
  title,
  description,
  after,
  children,
}: {
  title: string;
  description?: ReactNode;
  /** Links below the box. */
  after?: ReactNode;
  children: ReactNode;
}) {
  return (
    <div className="mx-auto w-full max-w-md sm:pt-8">
      <div className="rounded-box border border-line bg-surface p-6 shadow-box sm:p-8">
        <h1 className="font-semibold text-lg">{title}</h1>
        {description && <p className="mt-1 text-muted">{description}</p>}
        <div className="mt-5">{children}</div>
      </div>
      {after && <p className="mt-4 px-6 text-muted sm:px-8">{after}</p>}
    </div>
  );
}
