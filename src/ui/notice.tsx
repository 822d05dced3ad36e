"use client";

import { CircleCheck } from "lucide-react";
import type { ReactNode } from "react";
import { useFocus } from "./use-focus.ts";

/** Confirms an action of the page before, whose button is gone: takes the focus. */
export function Notice({ children }: { children: ReactNode }) {
  return (
    <p
      ref={useFocus<HTMLParagraphElement>()}
      tabIndex={-1}
      role="status"
      className="mb-4 flex items-center gap-2 rounded-box border border-line bg-surface px-4 py-3 text-good"
    >
      <CircleCheck aria-hidden="true" size={16} className="shrink-0" />
      {children}
    </p>
  );
}
