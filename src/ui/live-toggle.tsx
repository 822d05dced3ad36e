"use client";

import { useRouter } from "next/navigation";
import { useEffect, useRef, useState, useTransition } from "react";
import { Button } from "./button.tsx";
import { classes } from "./classes.ts";
import { isReachable } from "./is-reachable.ts";
import { useIsNavigating } from "./navigation-skeleton.tsx";

const REFRESH_EVERY_MS = 5_000;
const STORAGE_KEY = "live";

/**
 * Reloads the page's content every few seconds while it is visible, unless switched off. Off by default for
 * people who prefer reduced motion.
 */
export function LiveToggle({ labels }: { labels: Record<"label" | "on" | "off" | "unreachable", string> }) {
  const [isOn, setOn] = useStoredSetting();
  const isReached = useAutoRefresh(isOn === true);
  const state = isOn ? (isReached ? "on" : "unreachable") : "off";
  return (
    <Button
      type="button"
      role="switch"
      aria-checked={isOn === true}
      onClick={() => setOn(!isOn)}
      // Keeps its space: without JavaScript there is nothing to switch.
      className={classes(isOn === null && "invisible")}
    >
      <span
        aria-hidden="true"
        className={classes(
          "size-2 rounded-full",
          { on: "bg-good", unreachable: "bg-warn", off: "bg-line-strong" }[state],
        )}
      />
      {/* The text that is seen is part of the name, for people who speak to their browser. */}
      <span className="sr-only">{labels.label}</span>{" "}
      {/* An element: React would go on writing to the text that a browser's translation has replaced. */}
      <span>{labels[state]}</span>
    </Button>
  );
}

function useStoredSetting(): [boolean | null, (isOn: boolean) => void] {
  const [isOn, setOn] = useState<boolean | null>(null);
  useEffect(() => {
    const storedChoice = sessionStorage.getItem(STORAGE_KEY);
    setOn(
      storedChoice === null ? !matchMedia("(prefers-reduced-motion: reduce)").matches : storedChoice === "on",
    );
  }, []);
  const keep = (next: boolean) => {
    sessionStorage.setItem(STORAGE_KEY, next ? "on" : "off");
    setOn(next);
  };
  return [isOn, keep];
}

function useAutoRefresh(isOn: boolean): boolean {
  const router = useRouter();
  const [isReached, setReached] = useState(true);
  const [isRefreshing, startRefresh] = useTransition();
  const isNavigating = useIsNavigating();
  // React shows concurrent transitions together: on a slow connection each refresh would delay the one before, and the page
  // that was opened meanwhile. A reference, as whether the server is reachable is asked all the same.
  const isLoading = useRef(false);
  useEffect(() => {
    isLoading.current = isRefreshing || isNavigating;
  }, [isRefreshing, isNavigating]);
  useEffect(() => {
    if (!isOn) return;
    let isAsking = false;
    let hasEnded = false;
    const refresh = async () => {
      if (isAsking || document.visibilityState !== "visible") return;
      isAsking = true;
      const ready = await isReachable();
      isAsking = false;
      setReached(ready);
      if (ready && !hasEnded && !isLoading.current) startRefresh(() => router.refresh());
    };
    const timer = setInterval(refresh, REFRESH_EVERY_MS);
    document.addEventListener("visibilitychange", refresh);
    return () => {
      hasEnded = true;
      clearInterval(timer);
      document.removeEventListener("visibilitychange", refresh);
    };
  }, [isOn, router]);
  return isReached;
}
