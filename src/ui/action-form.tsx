"use client";

import type { ReactNode } from "react";
import { classes } from "./classes.ts";
import { FormMessage } from "./form-message.tsx";
import { OutcomeProvider } from "./form-outcome.ts";
import { type FormAction, useFormAction } from "./use-form-action.ts";

/**
 * A form that submits to a server action, with or without JavaScript, and shows its outcome below the fields.
 */
export function ActionForm({
  action,
  successText,
  className,
  children,
}: {
  action: FormAction;
  /** Shown after success; nothing by default. */
  successText?: string;
  className?: string;
  children: ReactNode;
}) {
  const [outcome, submit] = useFormAction(action);
  return (
    <OutcomeProvider value={outcome}>
      <form action={submit} className={classes("group", className)}>
        {children}
        <FormMessage outcome={outcome} successText={successText} />
      </form>
    </OutcomeProvider>
  );
}
