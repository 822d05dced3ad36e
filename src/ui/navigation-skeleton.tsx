"use client";

import { useLinkStatus } from "next/link";
import { createContext, type ReactNode, useContext, useEffect, useState } from "react";

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
  return (
    <>
      {skeleton}
      <div hidden={skeleton !== undefined}>{children}</div>
    </>
  );
}
