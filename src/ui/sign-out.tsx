"use client";

import { createContext, type ReactNode, useContext } from "react";
import { FormMessage } from "./form-message.tsx";
import type { FormOutcome } from "./outcome.ts";
import { OutcomeForm } from "./outcome-form.tsx";
import { type FormAction, useFormAction } from "./use-form-action.ts";

type Submission = readonly [outcome: FormOutcome, submit: (form: FormData) => void];

const SignOutContext = createContext<Submission>([null, () => {}]);

/** The sign-out forms of the bar and of the sheet share one outcome. */
export function SignOutForms({ action, children }: { action: FormAction; children: ReactNode }) {
  return <SignOutContext value={useFormAction(action)}>{children}</SignOutContext>;
}

export function SignOutForm({ className, children }: { className?: string; children: ReactNode }) {
  const [outcome, submit] = useContext(SignOutContext);
  return (
    <OutcomeForm outcome={outcome} submit={submit} className={className}>
      {children}
    </OutcomeForm>
  );
}

/** Why nobody was signed out, outside of the sheet, which is closed again once the page has been loaded anew. */
export function SignOutFailure({ className }: { className: string }) {
  const [outcome] = useContext(SignOutContext);
  return (
    outcome !== null && (
      <div className={className}>
        <FormMessage outcome={outcome} />
      </div>
    )
  );
}
