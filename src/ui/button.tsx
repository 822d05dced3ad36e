import Link from "next/link";
import type { ComponentProps } from "react";
import { OnItsWay } from "./arrival.tsx";
import { buttonLook, type Look } from "./button-look.ts";

export function Button({ look = "plain", className, ...rest }: ComponentProps<"button"> & { look?: Look }) {
  return <button type="submit" {...rest} className={buttonLook(look, className)} />;
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
    <Link prefetch={false} {...rest} href={href} className={buttonLook(look, className)}>
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
  return <a {...rest} className={buttonLook(look, className)} />;
}
