"use client";

import { type ReactNode, useActionState } from "react";
import { classes } from "./classes.ts";
import { FormMessage } from "./form-message.tsx";
import { OutcomeOf } from "./form-outcome.ts";
import type { Outcome } from "./outcome.ts";

export type FormAction = (before: Outcome, form: FormData) => Promise<Outcome>;

/** A form that an action of the server's answers, with JavaScript and without. What came of it is told below its fields. */
export function ActionForm({
  action,
  done,
  waitWords,
  className,
  children,
}: {
  action: FormAction;
  /** Said when it went well; nothing is said without it. */
  done?: string;
  /** With `{seconds}` in it: how long to wait when there was too much. */
  waitWords?: string;
  className?: string;
  children: ReactNode;
}) {
  const [outcome, submit] = useActionState(action, null);
  return (
    <OutcomeOf value={outcome}>
      <form action={submit} className={classes("group", className)} noValidate={false}>
        {children}
        <FormMessage outcome={outcome} done={done} waitWords={waitWords} />
      </form>
    </OutcomeOf>
  );
}
