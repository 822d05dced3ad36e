"use client";

import { CircleAlert, CircleCheck } from "lucide-react";
import { classes } from "./classes.ts";
import { useOutcome } from "./outcome-context.ts";
import { useOutcomeKey } from "./use-outcome-key.ts";

/** The result of an action that can succeed in several ways. */
export type StatusMessageData = { tone: "good" | "bad"; text: string; details?: readonly string[] };

/** Shows the message where it stands in the form. */
export function StatusMessage() {
  const outcome = useOutcome();
  const occurrence = useOutcomeKey(outcome);
  const message = outcome?.done ? (outcome.value as StatusMessageData) : null;
  const Icon = message?.tone === "bad" ? CircleAlert : CircleCheck;
  return (
    <div role="status">
      {message && (
        <div
          key={occurrence}
          data-status-message={message.tone}
          className={classes("flex items-start gap-2", message.tone === "bad" ? "text-bad" : "text-good")}
        >
          <Icon aria-hidden="true" size={16} className="mt-1 shrink-0" />
          <div className="min-w-0 break-words">
            <p>{message.text}</p>
            {message.details && message.details.length > 0 && (
              <ul className="text-ink">
                {message.details.map((detail) => (
                  <li key={detail}>{detail}</li>
                ))}
              </ul>
            )}
          </div>
        </div>
      )}
    </div>
  );
}
