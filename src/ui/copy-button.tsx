"use client";

import { Check, Copy } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { Button } from "./button.tsx";

type Props = {
  text: string;
  words: Record<"copy" | "copied" | "failed", string>;
};

const SHOWN_FOR_MS = 2_000;

/** Needs JavaScript, and is not there without it: what it copies can be marked by hand. */
export function CopyButton({ text, words }: Props) {
  const [outcome, setOutcome] = useState<"copied" | "failed" | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);

  const copy = async () => {
    // Browsers have no clipboard for pages that came without TLS from elsewhere.
    const isDone = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    );
    setOutcome(isDone ? "copied" : "failed");
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setOutcome(null), SHOWN_FOR_MS);
  };
  const Icon = outcome === "copied" ? Check : Copy;
  return (
    <Button type="button" onClick={copy} className="shrink-0 noscript:hidden">
      <Icon aria-hidden="true" size={16} />
      <span aria-live="polite">{outcome === null ? words.copy : words[outcome]}</span>
    </Button>
  );
}
