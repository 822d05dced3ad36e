"use client";

import { createContext, type ReactNode, useContext } from "react";

type UiLabels = {
  product: string;
  loadError: Record<"title" | "description" | "retry", string>;
  /** Of a form that got no response. */
  unreachable: string;
  /** Of a form that was refused before it was read. */
  rate_limited: string;
  /** Of a form whose action the server no longer has. */
  outdated: string;
  /** Contains `{seconds}`. */
  retryIn: string;
};

const UiLabelsContext = createContext<UiLabels | null>(null);

/** Client components cannot load translations: the root layout passes down the few that they share. */
export function UiLabelsProvider({ labels, children }: { labels: UiLabels; children: ReactNode }) {
  return <UiLabelsContext value={labels}>{children}</UiLabelsContext>;
}

/** `null` outside of the root layout. */
export function useUiLabels(): UiLabels | null {
  return useContext(UiLabelsContext);
}
