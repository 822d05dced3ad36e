"use client";

import { useRouter } from "next/navigation";
import { useEffect, useState } from "react";

/** Reads the page again, a few times. Whoever has what they wait for does not render this any more. */
export function Refreshing({
  everySeconds,
  times,
  late,
}: {
  everySeconds: number;
  times: number;
  /** Said when it has been in vain. */
  late: string;
}) {
  const router = useRouter();
  const [left, setLeft] = useState(times);
  useEffect(() => {
    if (left === 0) return;
    const timer = setTimeout(() => {
      router.refresh();
      setLeft(left - 1);
    }, everySeconds * 1000);
    return () => clearTimeout(timer);
  }, [left, everySeconds, router]);
  return left === 0 ? <p>{late}</p> : null;
}
