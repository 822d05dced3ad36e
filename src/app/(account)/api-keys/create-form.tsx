import { getTranslations } from "next-intl/server";
import { ActionForm } from "../../../ui/action-form.tsx";
import { Card } from "../../../ui/card.tsx";
import { Field } from "../../../ui/field.tsx";
import { SubmitButton } from "../../../ui/submit-button.tsx";
import { formAction } from "../../gate/form-action.ts";
import { currentRequest } from "../../gate/request.ts";
import { createApiKeyAction } from "./actions.ts";
import { NewKey } from "./new-key.tsx";

export async function CreateForm() {
  const t = await getTranslations("apiKeys");
  const { appUrl } = await currentRequest();
  const today = new Date().toISOString().slice(0, 10);
  return (
    <Card title={t("create.title")} description={t("create.about")}>
      <ActionForm action={formAction(createApiKeyAction)} className="flex flex-col gap-4">
        <div className="grid gap-4 sm:grid-cols-2">
          <Field
            label={t("create.name")}
            help={t("create.nameHelp")}
            name="name"
            required
            maxLength={100}
            autoComplete="off"
          />
          <Field
            label={t("create.expires")}
            help={t("create.expiresHelp")}
            name="expiresAt"
            type="date"
            min={today}
          />
        </div>
        <div>
          <SubmitButton>{t("create.button")}</SubmitButton>
        </div>
        <NewKey
          appUrl={appUrl}
          labels={{
            shownOnce: t("create.shownOnce"),
            shownOnceAbout: t("create.shownOnceAbout"),
            key: t("create.key"),
            tryIt: t("create.tryIt"),
            copy: t("create.copy"),
            copied: t("create.copied"),
            copyFailed: t("create.copyFailed"),
          }}
        />
      </ActionForm>
    </Card>
  );
}
