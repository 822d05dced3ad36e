import { classes } from "./classes.ts";

export type Tone = "good" | "warn" | "bad" | "neutral";

export const DOTS: Record<Tone, string> = {
  good: "bg-good",
  warn: "bg-warn",
  bad: "bg-bad",
  neutral: "bg-line-strong",
};

/** A status as text with a dot: never by colour alone. */
export function Status({ tone, children }: { tone: Tone; children: string }) {
  return (
    <span className="inline-flex items-center gap-2 whitespace-nowrap">
      <span aria-hidden="true" className={classes("size-2 rounded-full", DOTS[tone])} />
      <span>{children}</span>
    </span>
  );
}
