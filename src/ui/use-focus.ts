import { type RefObject, useEffect, useRef } from "react";

/** For an element in the place of one that had the focus: takes it. It needs a `tabIndex`. */
export function useFocus<E extends HTMLElement>(): RefObject<E | null> {
  const element = useRef<E>(null);
  useEffect(() => element.current?.focus(), []);
  return element;
}
