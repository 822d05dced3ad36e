import { getTranslations } from "next-intl/server";
import { ActionForm } from "../../../ui/action-form.tsx";
import { Field } from "../../../ui/field.tsx";
import { SubmitButton } from "../../../ui/submit-button.tsx";
import { formAction } from "../../gate/form-action.ts";
import { signUp } from "./actions.ts";

export async function SignUpForm() {
  const t = await getTranslations("auth");
  return (
    <ActionForm action={formAction(signUp)} className="flex flex-col gap-3">
      <Field label={t("fields.name")} name="name" required maxLength={100} autoComplete="name" />
      <Field
        label={t("fields.email")}
        name="email"
        type="email"
        required
        maxLength={254}
        autoComplete="email"
      />
      <Field
        label={t("fields.password")}
        help={t("fields.passwordHelp")}
        name="password"
        type="password"
        required
        minLength={8}
        maxLength={128}
        autoComplete="new-password"
      />
      <SubmitButton>{t("signUp.submit")}</SubmitButton>
    </ActionForm>
  );
}
