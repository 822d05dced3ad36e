import type { ReactNode } from "react";
import { Field } from "./field.tsx";

/** A code of an authenticator app. Apps show it in two groups, and people type it as they see it. */
export function TotpField({ label, help }: { label: string; help?: ReactNode }) {
  return (
    <Field
      label={label}
      help={help}
      name="code"
      required
      inputMode="numeric"
      pattern="\s*[0-9]{3}\s?[0-9]{3}\s*"
      autoComplete="one-time-code"
    />
  );
}
