"use client";

import { type ComponentProps, useEffect, useRef } from "react";

/**
 * A popover that closes when the keyboard's focus leaves it: what would be focused next lies behind it. The button that
 * opened it closes it by itself.
 */
export function Sheet({ id, ...rest }: ComponentProps<"div"> & { id: string }) {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const sheet = ref.current;
    const closeWhenLeft = ({ relatedTarget: next }: FocusEvent) => {
      // `null`: the window has lost the focus.
      if (!(next instanceof Element) || sheet?.contains(next)) return;
      if (next.getAttribute("popovertarget") !== id) sheet?.hidePopover();
    };
    sheet?.addEventListener("focusout", closeWhenLeft);
    return () => sheet?.removeEventListener("focusout", closeWhenLeft);
  }, [id]);
  return <div {...rest} ref={ref} id={id} popover="auto" />;
}
