import type { ReactNode } from "react";
import { classes } from "./classes.ts";

/** Plans side by side, two or three a row: of up to six, none stands alone in the last one. */
export function PlanGrid({ className, children }: { className?: string; children: readonly ReactNode[] }) {
  const { length } = children;
  const columns = Math.min(length, length % 3 === 1 ? 2 : 3);
  return (
    <div className={classes("@container", className)}>
      <ul className={classes("grid grid-cols-1 gap-4", COLUMNS[columns])}>{children}</ul>
    </div>
  );
}

/** By their number, where the page is wide enough. */
const COLUMNS: Record<number, string> = { 2: "@md:grid-cols-2", 3: "@min-[38rem]:grid-cols-3" };
