import { getTranslations } from "next-intl/server";
import { ActionForm } from "../../../ui/action-form.tsx";
import { Card } from "../../../ui/card.tsx";
import { Field } from "../../../ui/field.tsx";
import { SubmitButton } from "../../../ui/submit-button.tsx";
import { formAction } from "../../gate/form-action.ts";
import { changeEmail } from "./actions.ts";

export async function EmailCard({ email }: { email: string }) {
  const t = await getTranslations("settings.email");
  return (
    <Card title={t("title")} description={t("about")}>
      <ActionForm
        action={formAction(changeEmail)}
        successText={t("sent")}
        className="flex max-w-md flex-col gap-4"
      >
        <dl>
          <dt className="font-medium">{t("current")}</dt>
          <dd className="break-all text-muted">{email}</dd>
        </dl>
        <Field label={t("new")} name="newEmail" type="email" required maxLength={254} autoComplete="email" />
        <div>
          <SubmitButton>{t("submit")}</SubmitButton>
        </div>
      </ActionForm>
    </Card>
  );
}
