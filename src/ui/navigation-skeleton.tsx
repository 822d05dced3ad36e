"use client";

import { useLinkStatus } from "next/link";
import { createContext, type ReactNode, useContext, useEffect, useRef, useState } from "react";

const PendingPath = createContext<string | null>(null);
const SetPendingPath = createContext<(path: string | null) => void>(() => {});

/** Faster navigations show no skeleton. */
const SHOW_AFTER_MS = 100;

/** Wraps links and the area where their pages appear. */
export function NavigationProvider({ children }: { children: ReactNode }) {
  const [path, setPath] = useState<string | null>(null);
  return (
    <SetPendingPath value={setPath}>
      <PendingPath value={path}>{children}</PendingPath>
    </SetPendingPath>
  );
}

/** Whether another page is being loaded. */
export function useIsNavigating(): boolean {
  return useContext(PendingPath) !== null;
}

/** Inside a link: reports that its page is loading. */
export function PendingLink({ href }: { href: string }) {
  const { pending } = useLinkStatus();
  const setPendingPath = useContext(SetPendingPath);
  useEffect(() => {
    if (!pending) return;
    const timer = setTimeout(() => setPendingPath(href.replace(/[?#].*/, "")), SHOW_AFTER_MS);
    return () => {
      clearTimeout(timer);
      setPendingPath(null);
    };
  }, [pending, href, setPendingPath]);
  return null;
}

/**
 * The page, or the skeleton of the one being loaded. Not `loading.tsx`: what Next.js streams after it is
 * invisible without JavaScript and always has status 200.
 */
export function NavigationSkeleton({
  skeletons,
  children,
}: {
  /** By path; `*` stands for any last part. */
  skeletons: Record<string, ReactNode>;
  children: ReactNode;
}) {
  const path = useContext(PendingPath);
  const skeleton = path === null ? undefined : (skeletons[path] ?? skeletons[path.replace(/[^/]+$/, "*")]);
  const isHidden = skeleton !== undefined;
  return (
    <>
      {skeleton}
      <div ref={useFocusOnReturn(isHidden)} hidden={isHidden}>
        {children}
      </div>
    </>
  );
}

/** Hiding the page takes the focus from its link: the new page's heading gets it, or the list that was paged. */
function useFocusOnReturn(isHidden: boolean) {
  const content = useRef<HTMLDivElement>(null);
  const wasHidden = useRef(false);
  useEffect(() => {
    const hasReturned = wasHidden.current && !isHidden;
    wasHidden.current = isHidden;
    if (!hasReturned || document.activeElement !== document.body) return;
    const place = document.getElementById(location.hash.slice(1)) ?? content.current?.querySelector("h1");
    place?.setAttribute("tabindex", "-1");
    place?.focus({ preventScroll: true });
  }, [isHidden]);
  return content;
}
