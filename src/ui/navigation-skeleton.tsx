"use client";

import { useLinkStatus } from "next/link";
import { createContext, type ReactNode, useContext, useEffect, useState } from "react";

const PendingPath = createContext<string | null>(null);
const SetPendingPath = createContext<(path: string | null) => void>(() => {});

/** Sooner than this nobody is shown that they are waiting. */
const SHOW_AFTER_MS = 100;

/** Round links and the place where their pages arrive. */
export function NavigationProvider({ children }: { children: ReactNode }) {
  const [path, setPath] = useState<string | null>(null);
  return (
    <SetPendingPath value={setPath}>
      <PendingPath value={path}>{children}</PendingPath>
    </SetPendingPath>
  );
}

/** In a link: tells that its page is on its way. */
export function PendingLink({ href }: { href: string }) {
  const { pending } = useLinkStatus();
  const tell = useContext(SetPendingPath);
  useEffect(() => {
    if (!pending) return;
    const timer = setTimeout(() => tell(href.replace(/[?#].*/, "")), SHOW_AFTER_MS);
    return () => {
      clearTimeout(timer);
      tell(null);
    };
  }, [pending, href, tell]);
  return null;
}

/**
 * A page, or the shape of the one that is on its way. Not `loading.tsx`: what Next.js streams behind that is not seen
 * without JavaScript, and is answered 200 whatever becomes of it.
 */
export function NavigationSkeleton({
  shapes,
  children,
}: {
  /** By path; `*` stands for any last part. */
  shapes: Record<string, ReactNode>;
  children: ReactNode;
}) {
  const path = useContext(PendingPath);
  const shape = path === null ? undefined : (shapes[path] ?? shapes[path.replace(/[^/]+$/, "*")]);
  return (
    <>
      {shape}
      <div hidden={shape !== undefined}>{children}</div>
    </>
  );
}
