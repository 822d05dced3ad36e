"use client";

import Link from "next/link";
import { usePathname } from "next/navigation";
import type { ReactNode } from "react";

/** A link on every page but the one it leads to. */
export function LinkElsewhere({
  href,
  className,
  children,
}: {
  href: string;
  className?: string;
  children: ReactNode;
}) {
  if (usePathname() === href) return null;
  return (
    <Link href={href} prefetch={false} className={className}>
      {children}
    </Link>
  );
}
