import { type RefObject, useEffect, useRef } from "react";

/**
 * For an element in the place of one that had the focus: takes it, unless the person is elsewhere by now. It needs
 * a `tabIndex`.
 * @param occasion when it changes, the focus is taken again
 */
export function useFocus<E extends HTMLElement>(occasion?: unknown): RefObject<E | null> {
  const element = useRef<E>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the occasion is the reason, not an input
  useEffect(() => {
    if (document.activeElement === document.body) element.current?.focus();
  }, [occasion]);
  return element;
}
