"use client";

import { Check, Copy } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { Button } from "./button.tsx";
import { classes } from "./classes.ts";

type Props = {
  text: string;
  labels: Record<"copy" | "copied" | "failed", string>;
};

const SHOWN_FOR_MS = 2_000;

/** Requires JavaScript and is hidden without it: the text can be selected by hand. */
export function CopyButton({ text, labels }: Props) {
  const [outcome, setOutcome] = useState<"copied" | "failed" | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);

  const copy = async () => {
    // Browsers have no clipboard API on remote pages without TLS.
    const isDone = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    );
    setOutcome(isDone ? "copied" : "failed");
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setOutcome(null), SHOWN_FOR_MS);
  };
  const shownLabel = outcome === "copied" ? "copied" : "copy";
  const Icon = outcome === "copied" ? Check : Copy;
  return (
    <Button type="button" onClick={copy} className="shrink-0 noscript:hidden">
      <Icon aria-hidden="true" size={16} />
      {/* Both labels share one place, so that the button keeps its width. */}
      <span className="grid">
        {(["copy", "copied"] as const).map((label) => (
          <span
            key={label}
            className={classes("col-start-1 row-start-1", label !== shownLabel && "invisible")}
          >
            {outcome === "failed" && label === "copy" ? labels.failed : labels[label]}
          </span>
        ))}
      </span>
      <span aria-live="polite" className="sr-only">
        {outcome && labels[outcome]}
      </span>
    </Button>
  );
}
