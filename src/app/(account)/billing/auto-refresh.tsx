"use client";

import { useRouter } from "next/navigation";
import { type ReactNode, useEffect, useRef, useState, useTransition } from "react";
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
  // React shows concurrent transitions together: on a slow connection each refresh would delay the one before. A reference,
  // as the tries are counted all the same.
  const [isRefreshing, startRefresh] = useTransition();
  const isLoading = useRef(false);
  useEffect(() => {
    isLoading.current = isRefreshing;
  }, [isRefreshing]);
  useEffect(() => {
    if (remaining === 0) return;
    let hasLeft = false;
    const timer = setTimeout(async () => {
      const ready = await isReachable();
      if (hasLeft) return;
      if (ready && !isLoading.current) startRefresh(() => router.refresh());
      setRemaining(remaining - 1);
    }, everySeconds * 1000);
    return () => {
      hasLeft = true;
      clearTimeout(timer);
    };
  }, [remaining, everySeconds, router]);
  if (remaining > 0) return null;
  return (
    <p className="max-w-prose">
      {late} {children}
    </p>
  );
}
