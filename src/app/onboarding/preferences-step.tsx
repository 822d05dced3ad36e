import { getTranslations } from "next-intl/server";
import { ActionForm } from "../../ui/action-form.tsx";
import { SubmitButton } from "../../ui/submit-button.tsx";
import { LanguageField } from "../(account)/settings/language-field.tsx";
import { PreferenceFields, type PreferenceOwner } from "../(account)/settings/preference-fields.tsx";
import { formAction } from "../gate/form-action.ts";
import { savePreferences } from "./actions.ts";
import { StepHeading } from "./step-heading.tsx";

export async function PreferencesStep({ user }: { user: PreferenceOwner }) {
  const t = await getTranslations("onboarding");
  return (
    <>
      <StepHeading title={t("looks.title")} description={t("looks.about")} />
      <ActionForm action={formAction(savePreferences)} className="flex flex-col gap-4">
        <LanguageField user={user} />
        <PreferenceFields user={user} />
        <div>
          <SubmitButton>{t("looks.submit")}</SubmitButton>
        </div>
      </ActionForm>
    </>
  );
}
