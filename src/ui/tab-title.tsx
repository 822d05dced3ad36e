"use client";

import { useEffect } from "react";
import { useUiLabels } from "./ui-labels.tsx";

/** Sets the tab's title to that of a message shown in place of a page whose title was already sent. */
export function TabTitle({ title }: { title: string }) {
  const product = useUiLabels()?.product;
  useEffect(() => {
    const before = document.title;
    const fullTitle = `${title} · ${product}`;
    document.title = fullTitle;
    return () => {
      // The next page may have set its own.
      if (document.title === fullTitle) document.title = before;
    };
  }, [title, product]);
  return null;
}
