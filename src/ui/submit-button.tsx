"use client";

import { LoaderCircle } from "lucide-react";
import type { ComponentProps, ReactNode } from "react";
import { useFormStatus } from "react-dom";
import { type ButtonVariant, buttonClasses } from "./button-classes.ts";

/** A submit button that shows when it is pending. */
export function SubmitButton({
  variant = "primary",
  className,
  children,
  ...rest
}: ComponentProps<"button"> & { variant?: ButtonVariant }) {
  const { pending } = useFormStatus();
  return (
    <button type="submit" {...rest} {...blocked(pending)} className={buttonClasses(variant, className)}>
      {pending && <LoaderCircle aria-hidden="true" size={16} className="animate-spin" />}
      <ButtonLabel>{children}</ButtonLabel>
    </button>
  );
}

/** An element, so that a spinner can be put before it: the text itself is replaced by a browser that translates the page. */
export function ButtonLabel({ children }: { children: ReactNode }) {
  return <span className="contents">{children}</span>;
}

/** Submits nothing while it is pending. Not `disabled`, which would take the keyboard's focus away. */
export function blocked(pending: boolean): ComponentProps<"button"> {
  return pending ? { "aria-disabled": true, onClick: (event) => event.preventDefault() } : {};
}
