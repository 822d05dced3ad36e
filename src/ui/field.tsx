"use client";

import { type ComponentProps, type ReactNode, useEffect, useId } from "react";
import { classes } from "./classes.ts";
import { useOutcome } from "./outcome-context.ts";

const BOX =
  "min-h-9.5 w-full rounded-box border border-line-strong bg-surface px-3 py-1.5 text-ink placeholder:text-muted aria-invalid:border-bad disabled:opacity-60";

type Labelled = { label: string; name: string; help?: ReactNode };

/** For text that is compared letter by letter: phones begin it with a capital, and correct what is no word. */
const VERBATIM = { autoCapitalize: "none", autoCorrect: "off" };

/** A text input: label above, help or error below. `spellCheck={false}` is for what is not prose, such as an id. */
export function Field({
  label,
  name,
  help,
  defaultValue,
  className,
  ...rest
}: Labelled & Omit<ComponentProps<"input">, "name" | "id">) {
  const { id, error, entered, focusable } = useField(name);
  return (
    <FieldFrame id={id} label={label} help={help} error={error} className={className}>
      <input
        {...(rest.spellCheck === false && VERBATIM)}
        {...rest}
        {...focusable}
        name={name}
        dir="auto"
        defaultValue={entered ?? defaultValue}
        aria-invalid={error !== null || undefined}
        aria-describedby={`${id}-help`}
        className={BOX}
      />
    </FieldFrame>
  );
}

/** A select input. */
export function Select({
  label,
  name,
  help,
  defaultValue,
  options,
  className,
}: Labelled & {
  defaultValue?: string;
  options: readonly { value: string; label: string }[];
  className?: string;
}) {
  const { id, isSent, error, entered, focusable } = useField(name);
  const chosen = entered ?? defaultValue;
  return (
    <FieldFrame id={id} label={label} help={help} error={error} className={className}>
      {/* Keyed: React resets a form after its action, and a select to its first value. A filter keeps the focus. */}
      <select
        key={isSent ? chosen : undefined}
        {...focusable}
        name={name}
        defaultValue={chosen}
        aria-invalid={error !== null || undefined}
        aria-describedby={`${id}-help`}
        className={BOX}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </FieldFrame>
  );
}

/** A check box: sent as `on`, or not at all. */
export function Checkbox({
  label,
  name,
  help,
  defaultChecked,
  isInvalid = false,
}: Labelled & { defaultChecked?: boolean; isInvalid?: boolean }) {
  const { id, isRefused, entered } = useField(name);
  // A refused form restores what was sent, and an unticked box is not sent.
  const isChecked = isRefused ? entered !== undefined : defaultChecked;
  return (
    <div className="flex items-start gap-3">
      <input
        key={String(isChecked)}
        id={id}
        name={name}
        type="checkbox"
        defaultChecked={isChecked}
        aria-invalid={isInvalid || undefined}
        aria-describedby={help ? `${id}-help` : undefined}
        className="mt-1 size-4 shrink-0 accent-accent"
      />
      <div>
        <label htmlFor={id} className="font-medium">
          {label}
        </label>
        {help && (
          <p id={`${id}-help`} className="text-sm text-muted">
            {help}
          </p>
        )}
      </div>
    </div>
  );
}

export function useField(name: string) {
  const id = useId();
  const outcome = useOutcome();
  const refused = outcome !== null && !outcome.done ? outcome : null;
  const isWrong = refused?.field === name;
  useEffect(() => {
    if (refused !== null && isWrong) show(document.getElementById(id));
  }, [refused, isWrong, id]);
  return {
    id,
    isSent: outcome !== null,
    isRefused: refused !== null,
    error: isWrong ? refused.message : null,
    entered: refused?.entered[name],
    // Without JavaScript, the page is loaded anew, and would be shown from its top.
    focusable: { id, autoFocus: isWrong },
  };
}

/** A field and its error, which may lie far above the button. It takes the focus, unless somebody is typing elsewhere. */
function show(control: HTMLElement | null) {
  if (document.activeElement?.matches("input, select, textarea"))
    control?.scrollIntoView({ block: "nearest" });
  else control?.focus();
}

export function FieldFrame({
  id,
  label,
  help,
  error,
  className,
  children,
}: {
  id: string;
  label: string;
  help?: ReactNode;
  error: string | null;
  className?: string | undefined;
  children: ReactNode;
}) {
  return (
    <div className={classes("flex flex-col gap-1 wrap-anywhere", className)}>
      <label htmlFor={id} className="font-medium">
        {label}
      </label>
      {children}
      <p id={`${id}-help`} className={classes("text-sm", error ? "text-bad" : "text-muted")}>
        {error ?? help}
      </p>
    </div>
  );
}
