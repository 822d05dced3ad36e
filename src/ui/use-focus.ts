import { type RefObject, useEffect, useRef } from "react";

/**
 * For an element in the place of one that had the focus: takes it, unless the person is elsewhere by now. It needs
 * a `tabIndex`.
 * @param occasion each one takes it anew; `null`: none yet
 */
export function useFocus<E extends HTMLElement>(
  occasion: object | string | null = "shown",
): RefObject<E | null> {
  const element = useRef<E>(null);
  useEffect(() => {
    if (occasion !== null && document.activeElement === document.body) element.current?.focus();
  }, [occasion]);
  return element;
}
