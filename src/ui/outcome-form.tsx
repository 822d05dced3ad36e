"use client";

import { type FormEvent, type ReactNode, useLayoutEffect, useRef } from "react";
import { classes } from "./classes.ts";
import { Form } from "./form.tsx";
import { FormMessage } from "./form-message.tsx";
import type { FormOutcome } from "./outcome.ts";
import { OutcomeProvider } from "./outcome-context.ts";

/** A form that shows the outcome of its last submission below the fields. */
export function OutcomeForm({
  outcome,
  submit,
  successText,
  className,
  children,
}: {
  outcome: FormOutcome;
  submit: (form: FormData) => void;
  /** Shown after success; nothing by default. */
  successText?: string | undefined;
  className?: string | undefined;
  children: ReactNode;
}) {
  return (
    <OutcomeProvider value={outcome}>
      <Form {...useLateInput(outcome)} action={submit} className={classes("group", className)}>
        {children}
        <FormMessage outcome={outcome} successText={successText} />
      </Form>
    </OutcomeProvider>
  );
}

/**
 * Keeps what is typed or chosen while the form is being sent: React resets a form with the outcome, and
 * selects and check boxes may be replaced.
 */
function useLateInput(outcome: FormOutcome) {
  const form = useRef<HTMLFormElement>(null);
  const late = useRef(new Map<string, Pick<HTMLInputElement, "value" | "checked">>());
  const restoredFor = useRef(outcome);
  useLayoutEffect(() => {
    if (restoredFor.current === outcome) return;
    restoredFor.current = outcome;
    for (const [name, entered] of late.current) {
      const control = form.current?.elements.namedItem(name);
      if (control) Object.assign(control, entered);
    }
    late.current.clear();
  }, [outcome]);
  return {
    ref: form,
    onSubmit: () => late.current.clear(),
    onInput: ({ target }: FormEvent) => {
      const { name, value, checked } = target as HTMLInputElement;
      late.current.set(name, { value, checked });
    },
  };
}
