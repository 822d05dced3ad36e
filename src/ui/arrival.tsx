"use client";

import { useLinkStatus } from "next/link";
import { createContext, type ReactNode, useContext, useEffect, useState } from "react";

const Awaited = createContext<string | null>(null);
const Await = createContext<(path: string | null) => void>(() => {});

/** Sooner than this nobody is shown that they are waiting. */
const PATIENCE_MS = 100;

/** Round links and the place where their pages arrive. */
export function Arrivals({ children }: { children: ReactNode }) {
  const [path, setPath] = useState<string | null>(null);
  return (
    <Await value={setPath}>
      <Awaited value={path}>{children}</Awaited>
    </Await>
  );
}

/** In a link: tells that its page is on its way. */
export function OnItsWay({ href }: { href: string }) {
  const { pending } = useLinkStatus();
  const tell = useContext(Await);
  useEffect(() => {
    if (!pending) return;
    const timer = setTimeout(() => tell(href.replace(/[?#].*/, "")), PATIENCE_MS);
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
export function Arrival({
  shapes,
  children,
}: {
  /** By path; `*` stands for any last part. */
  shapes: Record<string, ReactNode>;
  children: ReactNode;
}) {
  const path = useContext(Awaited);
  const shape = path === null ? undefined : (shapes[path] ?? shapes[path.replace(/[^/]+$/, "*")]);
  return (
    <>
      {shape}
      <div hidden={shape !== undefined}>{children}</div>
    </>
  );
}
