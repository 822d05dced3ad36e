"use client";

import { RotateCw } from "lucide-react";
import { useTransition } from "react";
import { buttonLook } from "./button-look.ts";
import { useFailureWords } from "./failure-words.tsx";
import { NarrowPage } from "./narrow-page.tsx";

/** What Next.js gives an error page. */
export type FailureProps = { error: unknown; retry: () => void };

/** A page that could not be loaded: why not is in the log, below the number. */
export function Failure({ error, retry }: FailureProps) {
  const words = useFailureWords();
  const [isRetrying, startRetry] = useTransition();
  const number = error instanceof Error && "digest" in error ? String(error.digest) : null;
  if (words === null) throw error;
  return (
    <NarrowPage title={words.title} about={words.about}>
      {number && <p className="mb-5 break-all rounded-box bg-raised px-3 py-2 font-mono text-sm">{number}</p>}
      <button
        type="button"
        className={buttonLook("main")}
        disabled={isRetrying}
        onClick={() => startRetry(() => retry())}
      >
        <RotateCw aria-hidden="true" size={16} className={isRetrying ? "animate-spin" : undefined} />
        {words.way}
      </button>
    </NarrowPage>
  );
}
