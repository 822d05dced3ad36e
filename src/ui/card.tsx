import type { ReactNode } from "react";
import { classes } from "./classes.ts";

/** A section of a page with its own heading. */
export function Card({
  title,
  description,
  action,
  tone = "plain",
  children,
}: {
  title?: string;
  description?: ReactNode;
  action?: ReactNode;
  tone?: "plain" | "danger";
  children?: ReactNode;
}) {
  return (
    <section
      className={classes(
        "rounded-box border bg-surface p-4 shadow-box sm:p-6",
        tone === "danger" ? "border-bad" : "border-line",
      )}
    >
      {title && (
        <div className="mb-4 flex flex-wrap items-start justify-between gap-3">
          <div>
            <h2 className="text-lg font-semibold">{title}</h2>
            {description && <p className="mt-1 max-w-prose text-muted">{description}</p>}
          </div>
          {action}
        </div>
      )}
      {children}
    </section>
  );
}
