import { getTranslations } from "next-intl/server";
import { ActionForm } from "../../ui/action-form.tsx";
import { Field } from "../../ui/field.tsx";
import { SubmitButton } from "../../ui/submit-button.tsx";
import { saveName } from "./forms.ts";
import { StepHeading } from "./step-heading.tsx";

export async function NameStep({ user }: { user: { name: string } }) {
  const [words, common] = await Promise.all([getTranslations("onboarding"), getTranslations("common")]);
  return (
    <>
      <StepHeading title={words("name.title")} about={words("name.about")} />
      <ActionForm action={saveName} waitWords={common.raw("wait")} className="flex flex-col gap-4">
        <Field
          label={words("name.label")}
          name="name"
          defaultValue={user.name}
          required
          maxLength={100}
          autoComplete="name"
        />
        <div>
          <SubmitButton>{words("name.submit")}</SubmitButton>
        </div>
      </ActionForm>
    </>
  );
}
