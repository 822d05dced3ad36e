"use client";

import { createContext, type ReactNode, useActionState, useContext } from "react";
import type { FormAction } from "../../../ui/action-form.tsx";
import { FormMessage } from "../../../ui/form-message.tsx";
import { OutcomeProvider, useOutcome } from "../../../ui/form-outcome.ts";

const Submit = createContext<(form: FormData) => void>(() => {});

/** One outcome for all rows, told above them: the row that is done is gone. */
export function RevokeForms({
  action,
  done,
  children,
}: {
  action: FormAction;
  done: string;
  children: ReactNode;
}) {
  const [outcome, submit] = useActionState(action, null);
  return (
    <OutcomeProvider value={outcome}>
      <div className="group">
        <FormMessage outcome={outcome} done={done} />
        <Submit value={submit}>{children}</Submit>
      </div>
    </OutcomeProvider>
  );
}

/** Opens by itself when there is something wrong in it. */
export function RevokeForm({ id, summary, children }: { id: string; summary: string; children: ReactNode }) {
  const outcome = useOutcome();
  const submit = useContext(Submit);
  const isRefused = outcome?.done === false && outcome.field === `confirm-${id}`;
  return (
    <details open={isRefused || undefined}>
      <summary className="inline-flex min-h-6 w-fit items-center rounded-box text-bad text-sm hover:underline">
        {summary}
      </summary>
      <form action={submit} className="mt-3 flex max-w-md flex-col items-start gap-3">
        {children}
      </form>
    </details>
  );
}
