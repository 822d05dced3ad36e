import Link from "next/link";
import type { ComponentProps } from "react";
import { type ButtonVariant, buttonClasses } from "./button-classes.ts";
import { PendingLink } from "./navigation-skeleton.tsx";

export function Button({
  variant = "secondary",
  className,
  ...rest
}: ComponentProps<"button"> & { variant?: ButtonVariant }) {
  return <button type="submit" {...rest} className={buttonClasses(variant, className)} />;
}

/** A link that looks like a button. */
export function LinkButton({
  variant = "secondary",
  className,
  href,
  children,
  ...rest
}: Omit<ComponentProps<typeof Link>, "href"> & { href: string; variant?: ButtonVariant }) {
  return (
    <Link prefetch={false} {...rest} href={href} className={buttonClasses(variant, className)}>
      {children}
      <PendingLink href={href} />
    </Link>
  );
}

/** The same for external URLs. */
export function ExternalLinkButton({
  variant = "secondary",
  className,
  ...rest
}: ComponentProps<"a"> & { variant?: ButtonVariant }) {
  return <a {...rest} className={buttonClasses(variant, className)} />;
}
