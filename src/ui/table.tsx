import Link from "next/link";
import type { ReactNode } from "react";
import { classes } from "./classes.ts";
import { PendingLink } from "./navigation-skeleton.tsx";
import { RowNavigation } from "./row-navigation.tsx";

type Align = "start" | "end";

/** The screen width from which a column is shown: narrower screens must not need its content. */
type ShownFrom = "always" | "sm" | "md";

export type Column = { label: string; align?: Align; from?: ShownFrom };

const SHOWN_FROM: Record<ShownFrom, string> = {
  always: "",
  sm: "hidden sm:table-cell",
  md: "hidden md:table-cell",
};

/** A table with a sticky header. The up and down keys move between rows with a link. */
export function Table({
  label,
  columns,
  children,
}: {
  label: string;
  columns: readonly Column[];
  children: ReactNode;
}) {
  return (
    <div className="rounded-box border border-line bg-surface shadow-box">
      <table
        className={classes(
          "w-full border-separate border-spacing-0",
          "[&_:is(td,th)]:px-3 sm:[&_:is(td,th)]:px-4",
          "[&_tbody_:is(td,th)]:border-line [&_tbody_:is(td,th)]:border-b [&_tbody_:is(td,th)]:py-2.5 [&_tbody_:is(td,th)]:align-top [&_tbody_tr:last-child_:is(td,th)]:border-b-0",
        )}
      >
        <caption className="sr-only">{label}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                key={column.label}
                scope="col"
                className={classes(
                  "sticky top-0 z-10 border-line border-b bg-surface whitespace-nowrap py-2 font-medium text-muted text-sm first:rounded-tl-box last:rounded-tr-box",
                  column.align === "end" ? "text-right" : "text-left",
                  SHOWN_FROM[column.from ?? "always"],
                )}
              >
                {column.label}
              </th>
            ))}
          </tr>
        </thead>
        <RowNavigation>{children}</RowNavigation>
      </table>
    </div>
  );
}

/** The main cell's link covers the whole row: other links and buttons need `relative` to lie above it. */
export function Row({ children }: { children: ReactNode }) {
  // Without a transform, Safari does not position the covering link within its row.
  return (
    <tr className="relative [transform:rotate(0)] hover:bg-raised has-[a[data-row]:focus-visible]:bg-raised">
      {children}
    </tr>
  );
}

export function Cell({
  align = "start",
  from = "always",
  className,
  children,
}: {
  align?: Align;
  from?: ShownFrom;
  className?: string;
  children: ReactNode;
}) {
  return (
    <td className={classes(align === "end" && "text-right tabular-nums", SHOWN_FROM[from], className)}>
      {children}
    </td>
  );
}

/** The cell that names the row's item; its link covers the whole row. */
export function MainCell({
  href,
  description,
  wraps = false,
  className,
  children,
}: {
  href: string;
  /** Shown below the link. */
  description?: ReactNode;
  /** Whether text that does not fit wraps on wide screens too, instead of being cut off. */
  wraps?: boolean;
  className?: string;
  children: ReactNode;
}) {
  return (
    <th scope="row" className={classes("w-full max-w-0 text-left font-normal", className)}>
      <Link
        href={href}
        prefetch={false}
        data-row=""
        dir="auto"
        className={classes(
          "block break-words text-left font-medium after:absolute after:inset-0 focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent focus-visible:outline-none",
          !wraps && "sm:truncate",
        )}
      >
        {children}
        <PendingLink href={href} />
      </Link>
      {description && (
        <span className={classes("wrap-anywhere block text-muted text-sm", !wraps && "sm:truncate")}>
          {description}
        </span>
      )}
    </th>
  );
}
