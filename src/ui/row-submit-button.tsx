"use client";

import { LoaderCircle } from "lucide-react";
import type { ReactNode } from "react";
import { useFormStatus } from "react-dom";
import { Button } from "./button.tsx";
import { ButtonLabel, blocked } from "./submit-button.tsx";

/** One of several submit buttons in a form: sends its own value, and shows when it is pending. */
export function RowSubmitButton({
  name = "id",
  id,
  label,
  children,
}: {
  name?: string;
  id: string;
  label: string;
  children: ReactNode;
}) {
  const { pending, data } = useFormStatus();
  const isAtWork = pending && data?.get(name) === id;
  return (
    <Button
      name={name}
      value={id}
      aria-label={label}
      {...blocked(pending)}
      className="relative whitespace-nowrap"
    >
      {isAtWork && <LoaderCircle aria-hidden="true" size={16} className="animate-spin" />}
      <ButtonLabel>{children}</ButtonLabel>
    </Button>
  );
}
