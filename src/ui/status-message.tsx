"use client";

import { CircleAlert, CircleCheck } from "lucide-react";
import { classes } from "./classes.ts";
import { useOutcome } from "./form-outcome.ts";

/** What came of a form that went through, when that may be several things. */
export type StatusMessageData = { tone: "good" | "bad"; sentence: string; details?: readonly string[] };

/** Says it in its place inside of the form. */
export function StatusMessage() {
  const outcome = useOutcome();
  const told = outcome?.done ? (outcome.value as StatusMessageData) : null;
  const Icon = told?.tone === "bad" ? CircleAlert : CircleCheck;
  return (
    <div role="status">
      {told && (
        <div
          data-told={told.tone}
          className={classes("flex items-start gap-2", told.tone === "bad" ? "text-bad" : "text-good")}
        >
          <Icon aria-hidden="true" size={16} className="mt-1 shrink-0" />
          <div className="min-w-0 break-words">
            <p>{told.sentence}</p>
            {told.details && told.details.length > 0 && (
              <ul className="text-ink">
                {told.details.map((detail) => (
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
