"use client";

import { usePathname } from "next/navigation";
import type { ReactNode } from "react";

/** What every page shows but one, which says it itself. */
export function HiddenOn({ path, children }: { path: string; children: ReactNode }) {
  return usePathname() === path ? null : children;
}
