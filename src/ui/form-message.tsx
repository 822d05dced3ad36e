"use client";

import { CircleAlert, CircleCheck } from "lucide-react";
import { useEffect, useState } from "react";
import type { Outcome } from "./outcome.ts";

type Words = { done?: string | undefined; waitWords?: string | undefined };

/** What came of the form, in words, where a screen reader hears it. A problem with one field is told at that field. */
export function FormMessage({ outcome, done, waitWords }: { outcome: Outcome } & Words) {
  const isProblem = outcome !== null && !outcome.done;
  return (
    <div
      role={isProblem ? "alert" : "status"}
      className="min-h-5 text-sm empty:sr-only"
      data-outcome={codeOf(outcome)}
    >
      {outcome?.done && done && (
        <p className="flex items-center gap-1.5 text-good">
          <CircleCheck aria-hidden="true" size={16} />
          {done}
        </p>
      )}
      {isProblem && (
        <p className="flex items-start gap-1.5 text-bad group-has-aria-invalid:sr-only">
          <CircleAlert aria-hidden="true" size={16} className="mt-0.5 shrink-0" />
          <span>
            {outcome.message}
            {outcome.retryAfterSeconds !== null && waitWords && (
              <Countdown
                key={JSON.stringify(outcome)}
                seconds={outcome.retryAfterSeconds}
                words={waitWords}
              />
            )}
          </span>
        </p>
      )}
    </div>
  );
}

function codeOf(outcome: Outcome): string | undefined {
  if (outcome === null) return undefined;
  return outcome.done ? "ok" : outcome.code;
}

/** Counts down to when the same may be tried again; heard once, not every second. */
function Countdown({ seconds, words }: { seconds: number; words: string }) {
  const [left, setLeft] = useState(seconds);
  useEffect(() => {
    const endsAt = Date.now() + seconds * 1000;
    const timer = setInterval(() => {
      const now = Math.max(0, Math.ceil((endsAt - Date.now()) / 1000));
      setLeft(now);
      if (now === 0) clearInterval(timer);
    }, 500);
    return () => clearInterval(timer);
  }, [seconds]);
  if (left === 0) return null;
  return (
    <span aria-live="off" data-wait={left}>
      {" "}
      {words.replace("{seconds}", String(left))}
    </span>
  );
}
