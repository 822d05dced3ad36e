"use client";

import { LoaderCircle } from "lucide-react";
import type { ComponentProps } from "react";
import { useFormStatus } from "react-dom";
import { buttonLook, type Look } from "./button-look.ts";

/** Says what it does, and shows that it is doing it. */
export function SubmitButton({
  look = "main",
  className,
  children,
  ...rest
}: ComponentProps<"button"> & { look?: Look }) {
  const { pending } = useFormStatus();
  return (
    <button
      type="submit"
      {...rest}
      className={buttonLook(look, className)}
      aria-disabled={pending || undefined}
      disabled={rest.disabled || pending}
    >
      {pending && <LoaderCircle aria-hidden="true" size={16} className="animate-spin" />}
      {children}
    </button>
  );
}
