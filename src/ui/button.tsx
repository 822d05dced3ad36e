import Link from "next/link";
import type { ComponentProps } from "react";
import { OnItsWay } from "./arrival.tsx";
import { classes } from "./classes.ts";

type Look = "main" | "plain" | "danger" | "quiet";

const LOOKS: Record<Look, string> = {
  main: "bg-accent text-on-accent hover:bg-accent-hover border-transparent",
  plain: "bg-surface text-ink border-line-strong hover:bg-raised",
  danger: "bg-surface text-bad border-bad hover:bg-raised",
  quiet: "bg-transparent text-ink border-transparent hover:bg-raised",
};

const BUTTON =
  "inline-flex min-h-9 items-center justify-center gap-2 rounded-box border px-3 py-1.5 font-medium no-underline transition-colors duration-100 disabled:cursor-default disabled:opacity-60";

export function Button({ look = "plain", className, ...rest }: ComponentProps<"button"> & { look?: Look }) {
  return <button type="submit" {...rest} className={classes(BUTTON, LOOKS[look], className)} />;
}

/** Goes somewhere, and looks like what it leads to. */
export function LinkButton({
  look = "plain",
  className,
  href,
  children,
  ...rest
}: Omit<ComponentProps<typeof Link>, "href"> & { href: string; look?: Look }) {
  return (
    <Link prefetch={false} {...rest} href={href} className={classes(BUTTON, LOOKS[look], className)}>
      {children}
      <OnItsWay href={href} />
    </Link>
  );
}

/** The same, to what is not one of the pages. */
export function OutsideLinkButton({
  look = "plain",
  className,
  ...rest
}: ComponentProps<"a"> & { look?: Look }) {
  return <a {...rest} className={classes(BUTTON, LOOKS[look], className)} />;
}
