"use client";

import { createContext, type ReactNode, useContext } from "react";
import { Form } from "./form.tsx";
import { FormMessage } from "./form-message.tsx";
import { OutcomeProvider, useOutcome } from "./outcome-context.ts";
import { type FormAction, useFormAction } from "./use-form-action.ts";

const SubmitContext = createContext<(form: FormData) => void>(() => {});

/** The forms of all rows share one outcome, shown above them: the row of what was revoked is gone. */
export function RevokeForms({
  action,
  successText,
  children,
}: {
  action: FormAction;
  successText: string;
  children: ReactNode;
}) {
  const [outcome, submit] = useFormAction(action);
  return (
    <OutcomeProvider value={outcome}>
      <div className="group">
        <FormMessage outcome={outcome} successText={successText} />
        <SubmitContext value={submit}>{children}</SubmitContext>
      </div>
    </OutcomeProvider>
  );
}

/** Revokes at once, without asking. */
export function RevokeAtOnceForm({ children }: { children: ReactNode }) {
  return <Form action={useContext(SubmitContext)}>{children}</Form>;
}

/** Stays open when its own submission was refused. */
export function RevokeForm({ id, summary, children }: { id: string; summary: string; children: ReactNode }) {
  const outcome = useOutcome();
  const submit = useContext(SubmitContext);
  const ownOutcome = outcome?.done === false && outcome.entered.id === id ? outcome : null;
  return (
    <OutcomeProvider value={ownOutcome}>
      <details open={ownOutcome?.field === "confirmation" || undefined}>
        <summary className="inline-flex min-h-6 w-fit items-center rounded-box text-bad text-sm hover:underline">
          {summary}
        </summary>
        <Form action={submit} className="mt-3 flex max-w-md flex-col items-start gap-3">
          {children}
        </Form>
      </details>
    </OutcomeProvider>
  );
}
