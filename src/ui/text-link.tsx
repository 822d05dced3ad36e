import Link from "next/link";
import type { ComponentProps } from "react";

/** A link among labels. */
export function TextLink(props: ComponentProps<typeof Link>) {
  return (
    <Link
      prefetch={false}
      {...props}
      className="inline-block py-0.5 text-accent underline underline-offset-2 hover:text-accent-hover"
    />
  );
}
