"use client";

import { Minus, Plus } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { FieldFrame, useField } from "./field.tsx";
import { formatPrice } from "./price.ts";

const BUTTON =
  "flex w-9 shrink-0 items-center justify-center border border-line-strong bg-surface hover:bg-raised aria-disabled:cursor-default aria-disabled:bg-surface aria-disabled:text-line-strong noscript:hidden";
const BOX =
  "min-h-9 w-16 min-w-0 border-line-strong border-y bg-surface px-1 text-center tabular-nums [appearance:textfield] aria-invalid:border-bad noscript:w-24 noscript:rounded-box noscript:border noscript:[appearance:auto] [&::-webkit-inner-spin-button]:appearance-none noscript:[&::-webkit-inner-spin-button]:[appearance:auto]";

/** A number input with plus and minus buttons. Without JavaScript a plain number field. */
export function Stepper({
  label,
  name,
  help,
  min,
  max,
  defaultValue,
  labels,
  each,
}: {
  label: string;
  name: string;
  help?: ReactNode;
  min: number;
  max: number;
  defaultValue: number;
  labels: Record<"less" | "more", string>;
  /** The price of one: the total, a text with `{price}`, is shown and follows the number. `null`: unknown. */
  each: { locale: string; amount: number; currency: string; total: string } | null;
}) {
  const { id, error, entered, focusable } = useField(name);
  const start = Number(entered ?? defaultValue);
  const [count, setCount] = useState(start);
  const box = useRef<HTMLInputElement>(null);
  // Entered before the scripts had loaded, or restored by the browser when somebody comes back.
  useEffect(() => setCount(box.current?.valueAsNumber ?? start), [start]);
  const step = (by: 1 | -1) => {
    // Stays within min and max by itself.
    if (by === 1) box.current?.stepUp();
    else box.current?.stepDown();
    box.current?.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const isInRange = count >= min && count <= max;
  return (
    <FieldFrame id={id} label={label} help={help} error={error}>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <div className="flex min-w-0">
          <button
            type="button"
            onClick={() => step(-1)}
            aria-disabled={count <= min || undefined}
            aria-label={labels.less}
            className={`${BUTTON} rounded-l-box border-r-0`}
          >
            <Minus aria-hidden="true" size={16} />
          </button>
          <input
            {...focusable}
            ref={box}
            name={name}
            type="number"
            inputMode="numeric"
            required
            min={min}
            max={max}
            step={1}
            defaultValue={start}
            aria-invalid={error !== null || undefined}
            onInput={(event) => setCount(event.currentTarget.valueAsNumber)}
            aria-describedby={`${id}-help`}
            className={BOX}
          />
          <button
            type="button"
            onClick={() => step(1)}
            aria-disabled={count >= max || undefined}
            aria-label={labels.more}
            className={`${BUTTON} rounded-r-box border-l-0`}
          >
            <Plus aria-hidden="true" size={16} />
          </button>
        </div>
        <output htmlFor={id} className="text-muted text-sm noscript:hidden">
          {each &&
            isInRange &&
            each.total.replace("{price}", () =>
              formatPrice(each.locale, { amount: each.amount * count, currency: each.currency }),
            )}
        </output>
      </div>
    </FieldFrame>
  );
}
