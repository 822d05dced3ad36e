import { getTranslations } from "next-intl/server";
import { MAX_NAME_UNITS } from "../../../domain/users/person-name.ts";
import { ActionForm } from "../../../ui/action-form.tsx";
import { CookiesBlocked } from "../../../ui/cookies-blocked.tsx";
import { Field } from "../../../ui/field.tsx";
import { NewPasswordField } from "../../../ui/new-password-field.tsx";
import { SubmitButton } from "../../../ui/submit-button.tsx";
import { formAction } from "../../gate/form-action.ts";
import { signUp } from "./actions.ts";

/** @param next where to go with the new account */
export async function SignUpForm({ next = null }: { next?: string | null }) {
  const t = await getTranslations("auth");
  return (
    <ActionForm action={formAction(signUp)} className="flex flex-col gap-3">
      {next && <input type="hidden" name="next" value={next} />}
      <CookiesBlocked text={t("fields.cookiesBlocked")} />
      <Field label={t("fields.name")} name="name" required maxLength={MAX_NAME_UNITS} autoComplete="name" />
      <Field
        label={t("fields.email")}
        name="email"
        type="email"
        required
        maxLength={254}
        autoComplete="email"
      />
      <NewPasswordField label={t("fields.password")} help={t("fields.passwordHelp")} name="password" />
      <SubmitButton>{t("signUp.submit")}</SubmitButton>
    </ActionForm>
  );
}
