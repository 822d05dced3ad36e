import { Field } from "./field.tsx";

/**
 * A code of an authenticator app. Apps show it in two groups, and people type it as they see it.
 * @param help the expected format; the title too, as browsers say no more of a malformed code than that and its title
 */
export function TotpField({ label, help }: { label: string; help: string }) {
  return (
    <Field
      label={label}
      help={help}
      name="code"
      required
      inputMode="numeric"
      title={help}
      pattern="\s*[0-9]{3}\s?[0-9]{3}\s*"
      autoComplete="one-time-code"
    />
  );
}
