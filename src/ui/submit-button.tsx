"use client";

import { LoaderCircle } from "lucide-react";
import type { ComponentProps } from "react";
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
      {children}
    </button>
  );
}

/** Submits nothing while it is pending. Not `disabled`, which would take the keyboard's focus away. */
export function blocked(pending: boolean): ComponentProps<"button"> {
  return pending ? { "aria-disabled": true, onClick: (event) => event.preventDefault() } : {};
}
