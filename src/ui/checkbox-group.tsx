"use client";

import { Checkbox, useField } from "./field.tsx";

/**
 * Check boxes for the entries of one list. A ticked one is sent as `<name>.<value>`; `name` itself is always
 * sent, so that none ticked differs from no such boxes.
 */
export function CheckboxGroup({
  label,
  name,
  options,
}: {
  label: string;
  name: string;
  options: readonly { value: string; label: string; help?: string; isChecked: boolean }[];
}) {
  const { id, error, focusable } = useField(name);
  return (
    <fieldset
      {...focusable}
      tabIndex={-1}
      className="min-w-0 wrap-anywhere"
      aria-describedby={error === null ? undefined : `${id}-error`}
    >
      <legend className="mb-1 font-medium">{label}</legend>
      {/* Above the boxes: the focus leads to the beginning of the group. */}
      {error !== null && (
        <p id={`${id}-error`} className="mb-1 text-bad text-sm">
          {error}
        </p>
      )}
      <input type="hidden" name={name} value="" />
      <div className="grid gap-x-4 gap-y-1 sm:grid-cols-2 lg:grid-cols-3">
        {options.map((option) => (
          <Checkbox
            key={option.value}
            label={option.label}
            help={option.help}
            name={`${name}.${option.value}`}
            defaultChecked={option.isChecked}
            isInvalid={error !== null}
          />
        ))}
      </div>
    </fieldset>
  );
}
