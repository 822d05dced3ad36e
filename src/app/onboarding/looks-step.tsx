import { getTranslations } from "next-intl/server";
import { ActionForm } from "../../ui/action-form.tsx";
import { SubmitButton } from "../../ui/submit-button.tsx";
import { LanguageField } from "../(account)/settings/language-field.tsx";
import { PreferenceFields, type Reader } from "../(account)/settings/preference-fields.tsx";
import { saveLooks } from "./forms.ts";
import { StepHeading } from "./step-heading.tsx";

export async function LooksStep({ user }: { user: Reader }) {
  const [words, common] = await Promise.all([getTranslations("onboarding"), getTranslations("common")]);
  return (
    <>
      <StepHeading title={words("looks.title")} about={words("looks.about")} />
      <ActionForm action={saveLooks} waitWords={common.raw("wait")} className="flex flex-col gap-4">
        <LanguageField user={user} />
        <PreferenceFields user={user} />
        <div>
          <SubmitButton>{words("looks.submit")}</SubmitButton>
        </div>
      </ActionForm>
    </>
  );
}
