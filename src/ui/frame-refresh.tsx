"use client";

import { useRouter } from "next/navigation";
import { createContext, useContext, useEffect } from "react";

const FrameState = createContext("");

/** What the frame around the pages shows. */
export const FrameStateProvider = FrameState.Provider;

/** Reloads a frame that shows something else than `state`: it stays as it is from page to page. */
export function FrameRefresh({ state }: { state: string }) {
  const shown = useContext(FrameState);
  const router = useRouter();
  useEffect(() => {
    if (state !== shown) router.refresh();
  }, [state, shown, router]);
  return null;
}
