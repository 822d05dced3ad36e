"use client";

import { createContext, type ReactNode, useContext } from "react";

export type FailureWords = Record<"title" | "about" | "way", string>;

const Words = createContext<FailureWords | null>(null);

/** Error pages are drawn in the browser, and cannot ask for words: the layout gives them along. */
export function FailureWordsFor({ words, children }: { words: FailureWords; children: ReactNode }) {
  return <Words value={words}>{children}</Words>;
}

export function useFailureWords(): FailureWords | null {
  return useContext(Words);
}
