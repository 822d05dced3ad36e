"use client";

import { CircleAlert, CircleCheck } from "lucide-react";
import { useEffect, useState } from "react";
import type { FormOutcome } from "./outcome.ts";
import { useUiLabels } from "./ui-labels.tsx";
import { useFocus } from "./use-focus.ts";
import { useOutcomeKey } from "./use-outcome-key.ts";

/** The outcome of a form, announced to screen readers. A field's error is shown at that field instead. */
export function FormMessage({
  outcome,
  successText,
}: {
  outcome: FormOutcome;
  successText?: string | undefined;
}) {
  const retryIn = useUiLabels()?.retryIn;
  const isProblem = outcome !== null && !outcome.done;
  const occurrence = useOutcomeKey(outcome);
  return (
    <div
      role={isProblem ? "alert" : "status"}
      className="min-h-5 text-sm empty:sr-only"
      data-outcome={codeOf(outcome)}
    >
      {outcome?.done && successText && <Success key={occurrence} outcome={outcome} text={successText} />}
      {isProblem && (
        <p key={occurrence} className="flex items-start gap-1.5 text-bad group-has-aria-invalid:sr-only">
          <CircleAlert aria-hidden="true" size={16} className="mt-0.5 shrink-0" />
          <span>
            {outcome.message}
            {outcome.retryAfterSeconds !== null && retryIn && (
              <Countdown seconds={outcome.retryAfterSeconds} text={retryIn} />
            )}
          </span>
        </p>
      )}
    </div>
  );
}

/** Takes the focus when the button that was pressed is gone. */
function Success({ outcome, text }: { outcome: FormOutcome; text: string }) {
  return (
    <p
      ref={useFocus<HTMLParagraphElement>(outcome)}
      tabIndex={-1}
      className="flex items-center gap-1.5 text-good"
    >
      <CircleCheck aria-hidden="true" size={16} />
      {text}
    </p>
  );
}

function codeOf(outcome: FormOutcome): string | undefined {
  if (outcome === null) return undefined;
  return outcome.done ? "ok" : outcome.code;
}

/** Counts down to the next permitted attempt; screen readers announce it once, not every second. */
function Countdown({ seconds, text }: { seconds: number; text: string }) {
  const [remaining, setRemaining] = useState(seconds);
  useEffect(() => {
    const endsAt = Date.now() + seconds * 1000;
    const timer = setInterval(() => {
      const now = Math.max(0, Math.ceil((endsAt - Date.now()) / 1000));
      setRemaining(now);
      if (now === 0) clearInterval(timer);
    }, 500);
    return () => clearInterval(timer);
  }, [seconds]);
  if (remaining === 0) return null;
  return (
    <span aria-live="off" data-wait={remaining}>
      {` ${text.replace("{seconds}", String(remaining))}`}
    </span>
  );
}
