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
    <button
      type="submit"
      {...rest}
      className={buttonClasses(variant, className)}
      aria-disabled={pending || undefined}
      disabled={rest.disabled || pending}
    >
      {pending && <LoaderCircle aria-hidden="true" size={16} className="animate-spin" />}
      {children}
    </button>
  );
}
