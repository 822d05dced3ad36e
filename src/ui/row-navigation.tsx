"use client";

import type { KeyboardEvent, MouseEvent, ReactNode } from "react";

/** Table rows in which the arrow keys move from one row's link to the next. */
export function RowNavigation({ children }: { children: ReactNode }) {
  return (
    <tbody onKeyDown={move} onClick={follow}>
      {children}
    </tbody>
  );
}

/** Text that lies above the row's link navigates like the link. */
function follow(event: MouseEvent<HTMLElement>) {
  const target = event.target as HTMLElement;
  if (target.closest("a, button, input, select, summary, label") || getSelection()?.isCollapsed === false)
    return;
  target.closest("tr")?.querySelector<HTMLElement>("a[data-row]")?.click();
}

const STEPS: Partial<Record<string, number>> = { ArrowUp: -1, ArrowDown: 1 };

function move(event: KeyboardEvent<HTMLElement>) {
  const step = STEPS[event.key];
  if (step === undefined || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>("a[data-row]")];
  const at = links.indexOf(event.target as HTMLElement);
  const next = at < 0 ? undefined : links[at + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
  // The sticky header covers the top row.
  next.closest("tr")?.scrollIntoView({ block: "nearest" });
}
