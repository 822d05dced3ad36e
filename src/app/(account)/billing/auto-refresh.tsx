"use client";

import { useRouter } from "next/navigation";
import { type ReactNode, useEffect, useState, useTransition } from "react";
import { isReachable } from "../../../ui/is-reachable.ts";

/** Refreshes the page a few times, until the awaited state no longer renders this. */
export function AutoRefresh({
  everySeconds,
  times,
  late,
  children,
}: {
  everySeconds: number;
  times: number;
  /** Shown after the last refresh. */
  late: string;
  /** The way on from there. */
  children: ReactNode;
}) {
  const router = useRouter();
  const [remaining, setRemaining] = useState(times);
  // React shows concurrent transitions together: on a slow connection each refresh would delay the one before.
  const [isRefreshing, startRefresh] = useTransition();
  useEffect(() => {
    if (remaining === 0 || isRefreshing) return;
    let hasLeft = false;
    const timer = setTimeout(async () => {
      const ready = await isReachable();
      if (hasLeft) return;
      if (ready) startRefresh(() => router.refresh());
      setRemaining(remaining - 1);
    }, everySeconds * 1000);
    return () => {
      hasLeft = true;
      clearTimeout(timer);
    };
  }, [remaining, isRefreshing, everySeconds, router]);
  if (remaining > 0) return null;
  return (
    <p className="max-w-prose">
      {late} {children}
    </p>
  );
}
