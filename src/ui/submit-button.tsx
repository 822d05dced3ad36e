"use client";

import { LoaderCircle } from "lucide-react";
import type { ComponentProps } from "react";
import { useFormStatus } from "react-dom";
import { Button } from "./button.tsx";

/** Says what it does, and shows that it is doing it. */
export function SubmitButton({ children, ...rest }: ComponentProps<typeof Button>) {
  const { pending } = useFormStatus();
  return (
    <Button look="main" {...rest} aria-disabled={pending || undefined} disabled={rest.disabled || pending}>
      {pending && <LoaderCircle aria-hidden="true" size={16} className="animate-spin" />}
      {children}
    </Button>
  );
}
