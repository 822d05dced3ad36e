import { Field } from "./field.tsx";

/**
 * A password to be set. Without `maxLength`: browsers cut off what is pasted beyond it, unseen, and the whole
 * password would be wrong when its owner signs in.
 */
export function NewPasswordField({ label, help, name }: { label: string; help: string; name: string }) {
  return (
    <Field
      label={label}
      help={help}
      name={name}
      type="password"
      required
      minLength={8}
      autoComplete="new-password"
    />
  );
}
