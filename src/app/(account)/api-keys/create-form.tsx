import { getTranslations } from "next-intl/server";
import { ActionForm } from "../../../ui/action-form.tsx";
import { Card } from "../../../ui/card.tsx";
import { Field } from "../../../ui/field.tsx";
import { SubmitButton } from "../../../ui/submit-button.tsx";
import { currentRequest } from "../../gate/request.ts";
import { createKey } from "./forms.ts";
import { NewKey } from "./new-key.tsx";

export async function CreateForm() {
  const [words, common] = await Promise.all([getTranslations("apiKeys"), getTranslations("common")]);
  const today = new Date().toISOString().slice(0, 10);
  return (
    <Card title={words("create.title")} about={words("create.about")}>
      <ActionForm action={createKey} waitWords={common.raw("wait")} className="flex flex-col gap-4">
        <div className="grid gap-4 sm:grid-cols-2">
          <Field
            label={words("create.name")}
            help={words("create.nameHelp")}
            name="name"
            required
            maxLength={100}
            autoComplete="off"
          />
          <Field
            label={words("create.expires")}
            help={words("create.expiresHelp")}
            name="expiresAt"
            type="date"
            min={today}
          />
        </div>
        <div>
          <SubmitButton>{words("create.button")}</SubmitButton>
        </div>
        <NewKey
          appUrl={currentRequest().appUrl}
          words={{
            shownOnce: words("create.shownOnce"),
            shownOnceAbout: words("create.shownOnceAbout"),
            key: words("create.key"),
            tryIt: words("create.tryIt"),
            copy: words("create.copy"),
            copied: words("create.copied"),
            copyFailed: words("create.copyFailed"),
          }}
        />
      </ActionForm>
    </Card>
  );
}
