import { getTranslations } from "next-intl/server";
import { ActionForm } from "../../../ui/action-form.tsx";
import { Card } from "../../../ui/card.tsx";
import { Checkbox, Field } from "../../../ui/field.tsx";
import { NewPasswordField } from "../../../ui/new-password-field.tsx";
import { PasswordAccount } from "../../../ui/password-account.tsx";
import { SubmitButton } from "../../../ui/submit-button.tsx";
import { formAction } from "../../gate/form-action.ts";
import { changePassword } from "./actions.ts";

export async function PasswordCard({ email }: { email: string }) {
  const t = await getTranslations("settings.password");
  return (
    <Card title={t("title")}>
      <ActionForm
        action={formAction(changePassword)}
        successText={t("saved")}
        className="flex max-w-md flex-col gap-4"
      >
        <PasswordAccount email={email} />
        <Field
          label={t("current")}
          name="currentPassword"
          type="password"
          required
          autoComplete="current-password"
        />
        <NewPasswordField label={t("new")} help={t("newHelp")} name="newPassword" />
        <Checkbox label={t("revokeKeys")} help={t("revokeKeysHelp")} name="revokeApiKeys" />
        <div>
          <SubmitButton>{t("save")}</SubmitButton>
        </div>
      </ActionForm>
    </Card>
  );
}
