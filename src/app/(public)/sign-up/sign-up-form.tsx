import { getTranslations } from "next-intl/server";
import { ActionForm } from "../../../ui/action-form.tsx";
import { Field } from "../../../ui/field.tsx";
import { SubmitButton } from "../../../ui/submit-button.tsx";
import { createAccount } from "./forms.ts";

export async function SignUpForm() {
  const [words, common] = await Promise.all([getTranslations("auth"), getTranslations("common")]);
  return (
    <ActionForm action={createAccount} waitWords={common.raw("wait")} className="flex flex-col gap-3">
      <Field label={words("fields.name")} name="name" required maxLength={100} autoComplete="name" />
      <Field
        label={words("fields.email")}
        name="email"
        type="email"
        required
        maxLength={254}
        autoComplete="email"
      />
      <Field
        label={words("fields.password")}
        help={words("fields.passwordHelp")}
        name="password"
        type="password"
        required
        minLength={8}
        maxLength={128}
        autoComplete="new-password"
      />
      <SubmitButton>{words("signUp.submit")}</SubmitButton>
    </ActionForm>
  );
}
