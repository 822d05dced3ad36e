import Link from "next/link";
import type { ReactNode } from "react";
import { classes } from "./classes.ts";
import { PendingLink } from "./navigation-skeleton.tsx";
import { RowNavigation } from "./row-navigation.tsx";

type Align = "start" | "end";

/** Where a column is left out because the screen is narrow; what it says must not be needed there. */
type From = "always" | "sm" | "md";

export type Column = { label: string; align?: Align; from?: From };

const FROM: Record<From, string> = {
  always: "",
  sm: "hidden sm:table-cell",
  md: "hidden md:table-cell",
};

/** Rows of the same kind, below a header that stays in sight. Up and down move between rows that lead somewhere. */
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
                  FROM[column.from ?? "always"],
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

/** What is in it and may be clicked, other than its one link, needs `relative` to lie above that. */
export function Row({ children }: { children: ReactNode }) {
  // Turned by nothing: Safari lets only so a row hold the link that lies over it.
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
  from?: From;
  className?: string;
  children: ReactNode;
}) {
  return (
    <td className={classes(align === "end" && "text-right tabular-nums", FROM[from], className)}>
      {children}
    </td>
  );
}

/** Says what the row is about, and leads to it from wherever in the row one clicks. */
export function MainCell({
  href,
  description,
  className,
  children,
}: {
  href: string;
  /** In a line of its own below the link. */
  description?: ReactNode;
  className?: string;
  children: ReactNode;
}) {
  return (
    <th scope="row" className={classes("w-full max-w-0 text-left font-normal", className)}>
      <Link
        href={href}
        prefetch={false}
        data-row=""
        className="block break-words font-medium sm:truncate after:absolute after:inset-0 focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent focus-visible:outline-none"
      >
        {children}
        <PendingLink href={href} />
      </Link>
      {description && <span className="block truncate text-muted text-sm">{description}</span>}
    </th>
  );
}
