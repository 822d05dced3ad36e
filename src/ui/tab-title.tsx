"use client";

import { useEffect } from "react";
import { useUiLabels } from "./ui-labels.tsx";

/** Sets the tab's title to that of a message shown in place of a page whose title was already sent. */
export function TabTitle({ title }: { title: string }) {
  const product = useUiLabels()?.product;
  useEffect(() => {
    const before = document.title;
    const fullTitle = `${title} · ${product}`;
    if (before === fullTitle) return;
    const replace = () => {
      if (document.title === before) document.title = fullTitle;
    };
    replace();
    // Next.js writes the page's own title again when that part of the document is hydrated.
    const observer = new MutationObserver(replace);
    observer.observe(document.head, { childList: true, subtree: true, characterData: true });
    return () => {
      observer.disconnect();
      // The next page may have set its own.
      if (document.title === fullTitle) document.title = before;
    };
  }, [title, product]);
  return null;
}
