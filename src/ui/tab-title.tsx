"use client";

import { useEffect } from "react";
import { useUiLabels } from "./ui-labels.tsx";

/** Names the tab after a message shown in place of a page, whose own title has been sent already. */
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
