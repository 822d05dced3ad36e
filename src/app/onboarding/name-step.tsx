import { getTranslations } from "next-intl/server";
import { MAX_NAME_UNITS } from "../../domain/users/person-name.ts";
import { ActionForm } from "../../ui/action-form.tsx";
import { Field } from "../../ui/field.tsx";
import { SubmitButton } from "../../ui/submit-button.tsx";
import { formAction } from "../gate/form-action.ts";
import { saveName } from "./actions.ts";
import { StepHeading } from "./step-heading.tsx";

export async function NameStep({ user }: { user: { name: string } }) {
  const t = await getTranslations("onboarding");
  return (
    <>
      <StepHeading title={t("name.title")} description={t("name.about")} />
      <ActionForm action={formAction(saveName)} className="flex flex-col gap-4">
        <Field
          label={t("name.label")}
          name="name"
          defaultValue={user.name}
          required
          maxLength={MAX_NAME_UNITS}
          autoComplete="name"
        />
        <div>
          <SubmitButton>{t("name.submit")}</SubmitButton>
        </div>
      </ActionForm>
    </>
  );
}
