"use client";

import { RotateCw } from "lucide-react";
import { useTransition } from "react";
import { buttonClasses } from "./button-classes.ts";
import { NarrowPage } from "./narrow-page.tsx";
import { blocked } from "./submit-button.tsx";
import { TabTitle } from "./tab-title.tsx";
import { useUiLabels } from "./ui-labels.tsx";

/** The props that Next.js passes to an error page. */
export type LoadErrorProps = { error: unknown; retry: () => void };

/** A page that failed to load, with the request id to find in the log. */
export function LoadError({ error, retry }: LoadErrorProps) {
  const labels = useUiLabels()?.loadError;
  const [isRetrying, startRetry] = useTransition();
  const requestId = error instanceof Error && "digest" in error ? String(error.digest) : null;
  if (!labels) throw error;
  return (
    <NarrowPage title={labels.title} description={requestId && labels.description}>
      <TabTitle title={labels.title} />
      {requestId && (
        <p className="mb-5 break-all rounded-box bg-raised px-3 py-2 font-mono text-sm">{requestId}</p>
      )}
      <button
        type="button"
        className={buttonClasses("primary")}
        onClick={() => startRetry(() => retry())}
        {...blocked(isRetrying)}
      >
        <RotateCw aria-hidden="true" size={16} className={isRetrying ? "animate-spin" : undefined} />
        {labels.retry}
      </button>
    </NarrowPage>
  );
}
