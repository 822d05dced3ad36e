import { getTranslations } from "next-intl/server";
import { PERMISSIONS } from "../../../../domain/permission.ts";
import { ActionForm } from "../../../../ui/action-form.tsx";
import { Card } from "../../../../ui/card.tsx";
import { CheckboxGroup } from "../../../../ui/checkbox-group.tsx";
import { Field } from "../../../../ui/field.tsx";
import { SubmitButton } from "../../../../ui/submit-button.tsx";
import { formAction } from "../../../gate/form-action.ts";
import { createServiceKey } from "./actions.ts";
import { keyLabels } from "./key-labels.ts";
import { NewServiceKey } from "./new-service-key.tsx";

export async function CreateForm() {
  const [t, keys, labels] = await Promise.all([
    getTranslations("adminServiceKeys"),
    getTranslations("apiKeys.create"),
    keyLabels(),
  ]);
  const today = new Date().toISOString().slice(0, 10);
  return (
    <Card title={keys("title")} description={keys("about")}>
      <ActionForm action={formAction(createServiceKey)} className="flex flex-col gap-4">
        <div className="grid gap-4 sm:grid-cols-2 lg:grid-cols-3">
          <Field
            label={keys("name")}
            help={t("create.nameHelp")}
            name="name"
            required
            maxLength={100}
            autoComplete="off"
          />
          <Field
            label={t("create.limit")}
            help={t("create.limitHelp")}
            name="limit"
            defaultValue="600/60"
            required
            maxLength={12}
            autoComplete="off"
            spellCheck={false}
          />
          <Field
            label={keys("expires")}
            help={keys("expiresHelp")}
            name="expiresAt"
            type="date"
            min={today}
          />
        </div>
        <CheckboxGroup
          label={t("permissions.title")}
          name="permissions"
          options={PERMISSIONS.map((permission) => ({
            value: permission,
            label: permission,
            help: t(`permissions.${permission.replace(":", "_") as Underscored}`),
            isChecked: false,
          }))}
        />
        <div>
          <SubmitButton>{keys("button")}</SubmitButton>
        </div>
        <NewServiceKey labels={labels} />
      </ActionForm>
    </Card>
  );
}

type Underscored = (typeof PERMISSIONS)[number] extends infer Name
  ? Name extends `${infer Noun}:${infer Verb}`
    ? `${Noun}_${Verb}`
    : never
  : never;
