import type { ReactNode } from "react";
import { classes } from "./classes.ts";
import { DOTS, type Tone } from "./status.tsx";
import { Time } from "./time.tsx";

/** What happened, one below the other. */
export function Timeline({ children }: { children: ReactNode }) {
  return <ol className="flex flex-col">{children}</ol>;
}

export function TimelineEntry({
  tone,
  title,
  at,
  description,
  children,
}: {
  tone: Tone;
  title: ReactNode;
  at: Date;
  /** Where it comes from, in one line. */
  description?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <li className="group relative pb-6 pl-6 last:pb-0">
      <span
        aria-hidden="true"
        className="absolute top-3 bottom-[-0.75rem] left-[3px] w-0.5 bg-line group-last:hidden"
      />
      <span
        aria-hidden="true"
        className={classes("absolute top-2 left-0 size-2 rounded-full ring-4 ring-surface", DOTS[tone])}
      />
      <div className="flex flex-wrap items-baseline justify-between gap-x-4">
        <h3 className="font-medium">{title}</h3>
        <p className="text-muted text-sm">
          <Time at={at} />
        </p>
      </div>
      {description && <p className="text-muted text-sm">{description}</p>}
      {children}
    </li>
  );
}
