import { classes } from "./classes.ts";

/** A placeholder in the shape of what is loading. */
export function Skeleton({ className }: { className: string }) {
  return <div aria-hidden="true" className={classes("animate-pulse rounded-box bg-raised", className)} />;
}
