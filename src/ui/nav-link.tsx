"use client";

import Link from "next/link";
import { usePathname } from "next/navigation";
import type { ReactNode } from "react";
import { classes } from "./classes.ts";
import { PendingLink } from "./navigation-skeleton.tsx";

/** A side bar link, marked when its page or one below it is open. Clicking closes the sheet. */
export function NavLink({ href, children }: { href: string; children: ReactNode }) {
  const path = usePathname();
  const isHere = path === href || path.startsWith(`${href}/`);
  return (
    <Link
      href={href}
      prefetch={false}
      aria-current={isHere ? "page" : undefined}
      onClick={(event) => event.currentTarget.closest<HTMLElement>("[popover]")?.hidePopover()}
      className={classes(
        "flex items-center gap-3 rounded-box px-3 py-1.5 transition-colors duration-100 hover:bg-raised",
        isHere ? "bg-raised font-medium text-ink forced-colors:underline" : "text-muted",
      )}
    >
      {children}
      <PendingLink href={href} />
    </Link>
  );
}
