"use client";

import type { ReactNode } from "react";
import { OutcomeForm } from "./outcome-form.tsx";
import { type FormAction, useFormAction } from "./use-form-action.ts";

/**
 * A form that submits to a server action, with or without JavaScript.
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
    <OutcomeForm outcome={outcome} submit={submit} successText={successText} className={className}>
      {children}
    </OutcomeForm>
  );
}
