import { getTranslations } from "next-intl/server";
import { showSecurity } from "../../../operations/users/show-security.ts";
import { ActionForm } from "../../../ui/action-form.tsx";
import { Card } from "../../../ui/card.tsx";
import { Field } from "../../../ui/field.tsx";
import { SubmitButton } from "../../../ui/submit-button.tsx";
import { formAction } from "../../gate/form-action.ts";
import { read } from "../../gate/read.ts";
import { changeEmail } from "./actions.ts";

export async function EmailCard({ email }: { email: string }) {
  const [t, { pendingEmail }] = await Promise.all([
    getTranslations("settings.email"),
    read(showSecurity, {}),
  ]);
  return (
    <Card title={t("title")} description={t("about")}>
      <ActionForm
        action={formAction(changeEmail)}
        successText={t("sent")}
        className="flex max-w-md flex-col gap-4"
      >
        <dl className="flex flex-col gap-3">
          <div>
            <dt className="font-medium">{t("current")}</dt>
            <dd className="break-all text-muted">{email}</dd>
          </div>
          {pendingEmail !== null && (
            <div>
              <dt className="font-medium">{t("pending")}</dt>
              <dd className="break-all text-muted">{pendingEmail}</dd>
            </div>
          )}
        </dl>
        <Field label={t("new")} name="newEmail" type="email" required maxLength={254} autoComplete="email" />
        <div>
          <SubmitButton>{t("submit")}</SubmitButton>
        </div>
      </ActionForm>
    </Card>
  );
}
