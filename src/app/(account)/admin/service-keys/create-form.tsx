import { getTranslations } from "next-intl/server";
import { PERMISSIONS } from "../../../../domain/callers/permission.ts";
import { CheckboxGroup } from "../../../../ui/checkbox-group.tsx";
import { Field } from "../../../../ui/field.tsx";
import { formAction } from "../../../gate/form-action.ts";
import { CreateKeyCard } from "../../api-keys/create-key-card.tsx";
import { createServiceKey } from "./actions.ts";
import { NewServiceKey } from "./new-service-key.tsx";

export async function CreateForm() {
  const t = await getTranslations("adminServiceKeys");
  const limit = (
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
  );
  const permissions = (
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
  );
  return (
    <CreateKeyCard
      action={formAction(createServiceKey)}
      nameHelp={t("create.nameHelp")}
      moreFields={limit}
      scope={permissions}
    >
      <NewServiceKey />
    </CreateKeyCard>
  );
}

type Underscored = (typeof PERMISSIONS)[number] extends infer Name
  ? Name extends `${infer Noun}:${infer Verb}`
    ? `${Noun}_${Verb}`
    : never
  : never;
