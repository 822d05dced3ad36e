import { classes } from "./classes.ts";

/** The place of something that is on its way, in its shape. */
export function Skeleton({ className }: { className: string }) {
  return <div aria-hidden="true" className={classes("animate-pulse rounded-box bg-raised", className)} />;
}
