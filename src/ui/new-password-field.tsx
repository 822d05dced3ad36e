import { Field } from "./field.tsx";

/** A password to be set, with the rules that Better Auth applies to it. */
export function NewPasswordField({ label, help, name }: { label: string; help: string; name: string }) {
  return (
    <Field
      label={label}
      help={help}
      name={name}
      type="password"
      required
      minLength={8}
      maxLength={128}
      autoComplete="new-password"
    />
  );
}
