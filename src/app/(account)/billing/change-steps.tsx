"use client";

import { CircleCheck } from "lucide-react";
import { createContext, type ReactNode, useContext } from "react";
import { buttonClasses } from "../../../ui/button-classes.ts";
import { Form } from "../../../ui/form.tsx";
import { FormMessage } from "../../../ui/form-message.tsx";
import type { FormOutcome } from "../../../ui/outcome.ts";
import { OutcomeProvider } from "../../../ui/outcome-context.ts";
import { SubmitButton } from "../../../ui/submit-button.tsx";
import { useFocus } from "../../../ui/use-focus.ts";
import { type FormAction, useFormAction } from "../../../ui/use-form-action.ts";
import { useOutcomeKey } from "../../../ui/use-outcome-key.ts";

/** The result of either step. `form`: the name of the form. */
export type ChangeStep = { form: string | null } & (
  | /** `fields`: what the confirmation sends again. */
  { step: "preview"; lines: { label: string; value: string }[]; fields: Record<string, string> }
  | { step: "changed" | "unchanged"; text: string }
);

type Preview = Extract<ChangeStep, { step: "preview" }>;

/** How the names of the fields begin that repeat a line of the preview. */
const LINE = "shown.";
const FORM = "group mt-auto flex flex-col gap-3 border-line border-t pt-4";

type Submission = readonly [outcome: FormOutcome, submit: (form: FormData) => void];

const SubmissionContext = createContext<Submission>([null, () => {}]);

/**
 * All forms that change a subscription share one outcome: the message of one disappears with the next change, and the
 * message on arrival with the first.
 */
export function ChangeForms({
  action,
  onArrival,
  children,
}: {
  action: FormAction;
  onArrival: ReactNode;
  children: ReactNode;
}) {
  const submission = useFormAction(action);
  const [outcome] = submission;
  return (
    <SubmissionContext value={submission}>
      {outcome === null && onArrival}
      {children}
    </SubmissionContext>
  );
}

/** A form that withdraws a change, and says so where the button was. */
export function WithdrawForm({ name, children }: { name: string; children?: ReactNode }) {
  const [outcome, submit] = useSubmission(name);
  const result = outcome?.done ? (outcome.value as ChangeStep) : null;
  return (
    <Form action={submit} className="group">
      <input type="hidden" name="form" value={name} />
      {children}
      <FormMessage outcome={outcome} {...(result?.step === "changed" && { successText: result.text })} />
    </Form>
  );
}

/** Why a change was refused whose form is gone: its subscription has ended or is unpaid meanwhile. */
export function ChangeRefusal() {
  const [outcome] = useContext(SubmissionContext);
  return <FormMessage outcome={outcome} />;
}

/** What has become of a change that has taken its form away, or was made in another tab. */
export function ChangeResult({ name }: { name: string }) {
  const [outcome] = useSubmission(name);
  const result = outcome?.done ? (outcome.value as ChangeStep) : null;
  return result?.step === "changed" ? <Changed text={result.text} /> : <FormMessage outcome={outcome} />;
}

/**
 * A form whose first submission shows what a change costs, and whose second one makes it. A refusal leaves the
 * person on the step.
 */
export function ChangeSteps({
  name,
  backTo,
  labels,
  children,
}: {
  name: string;
  /** Where the first form is shown. */
  backTo: string;
  labels: Record<"title" | "confirm" | "back", string>;
  /** The fields of the first form. */
  children: ReactNode;
}) {
  const [outcome, submit] = useSubmission(name);
  const result = outcome?.done ? (outcome.value as ChangeStep) : null;
  const occurrence = useOutcomeKey(outcome);
  const preview = result?.step === "preview" ? result : refusedPreview(outcome);
  if (preview !== null) {
    return (
      <Form action={submit} className={FORM}>
        <input type="hidden" name="form" value={name} />
        {Object.entries(preview.fields).map(([name, value]) => (
          <input key={name} type="hidden" name={name} value={value} />
        ))}
        {preview.lines.map(({ label, value }) => (
          <input key={label} type="hidden" name={`${LINE}${label}`} value={value} />
        ))}
        <PreviewTitle title={labels.title} />
        <dl className="flex flex-col gap-2 text-sm">
          {preview.lines.map(({ label, value }) => (
            <div key={label} className="flex flex-wrap justify-between gap-x-4">
              <dt className="text-muted">{label}</dt>
              <dd className="tabular-nums">{value}</dd>
            </div>
          ))}
        </dl>
        <SubmitButton>{labels.confirm}</SubmitButton>
        <FormMessage outcome={outcome} />
        {/* A full load: it starts the form over, also without JavaScript. */}
        <a href={backTo} className={buttonClasses("ghost")}>
          {labels.back}
        </a>
      </Form>
    );
  }
  return (
    <OutcomeProvider value={outcome}>
      <Form action={submit} className={FORM}>
        <input type="hidden" name="form" value={name} />
        <input type="hidden" name="preview" value="true" />
        {children}
        {result?.step === "changed" ? (
          <Changed text={result.text} />
        ) : result?.step === "unchanged" ? (
          <p key={occurrence} role="status" className="text-muted text-sm">
            {result.text}
          </p>
        ) : (
          <FormMessage outcome={outcome} />
        )}
      </Form>
    </OutcomeProvider>
  );
}

/** The outcome is that of the form with this name. */
function useSubmission(name: string): Submission {
  const [outcome, submit] = useContext(SubmissionContext);
  const sentBy = outcome?.done ? (outcome.value as ChangeStep).form : outcome?.entered.form;
  return [sentBy === name ? outcome : null, submit];
}

/** What a refused confirmation had shown: it sent its lines along. */
function refusedPreview(outcome: FormOutcome): Pick<Preview, "lines" | "fields"> | null {
  if (outcome === null || outcome.done || outcome.entered.preview === "true") return null;
  if (outcome.code === "other_account") return null;
  const { form: _, ...fields } = outcome.entered;
  const entered = Object.entries(fields);
  return {
    lines: entered
      .filter(([name]) => name.startsWith(LINE))
      .map(([name, value]) => ({ label: name.slice(LINE.length), value })),
    fields: Object.fromEntries(entered.filter(([name]) => !name.startsWith(LINE))),
  };
}

function PreviewTitle({ title }: { title: string }) {
  return (
    <h4 ref={useFocus<HTMLHeadingElement>()} tabIndex={-1} className="font-medium">
      {title}
    </h4>
  );
}

function Changed({ text }: { text: string }) {
  return (
    <p
      ref={useFocus<HTMLParagraphElement>()}
      tabIndex={-1}
      role="status"
      className="flex items-start gap-1.5 text-good text-sm"
      data-outcome="ok"
    >
      <CircleCheck aria-hidden="true" size={16} className="mt-0.5 shrink-0" />
      {text}
    </p>
  );
}
