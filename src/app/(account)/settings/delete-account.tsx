import { getTranslations } from "next-intl/server";
import { ActionForm } from "../../../ui/action-form.tsx";
import { Card } from "../../../ui/card.tsx";
import { Field } from "../../../ui/field.tsx";
import { SubmitButton } from "../../../ui/submit-button.tsx";
import { formAction } from "../../gate/form-action.ts";
import { deleteAccount } from "./actions.ts";

export async function DeleteAccount({ email }: { email: string }) {
  const t = await getTranslations("settings.delete");
  return (
    <Card title={t("title")} description={t("about")} tone="danger">
      <ActionForm action={formAction(deleteAccount)} className="flex max-w-md flex-col gap-4">
        <Field
          label={t("confirmation")}
          help={t("confirmationHelp", { email })}
          name="confirmation"
          type="email"
          required
          maxLength={254}
          autoComplete="off"
          spellCheck={false}
        />
        <div>
          <SubmitButton variant="danger">{t("submit")}</SubmitButton>
        </div>
      </ActionForm>
    </Card>
  );
}
