import { getTranslations } from "next-intl/server";
import { MAX_NAME_UNITS } from "../../../domain/users/person-name.ts";
import { ActionForm } from "../../../ui/action-form.tsx";
import { LinkButton } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { Field } from "../../../ui/field.tsx";
import { PageHeader } from "../../../ui/page-header.tsx";
import { SubmitButton } from "../../../ui/submit-button.tsx";
import { formAction } from "../../gate/form-action.ts";
import { profile } from "../../gate/read.ts";
import { titled } from "../../titled.ts";
import { setLocale, updateProfile } from "./actions.ts";
import { CalendarCard } from "./calendar-card.tsx";
import { DeleteAccount } from "./delete-account.tsx";
import { EmailCard } from "./email-card.tsx";
import { LanguageField } from "./language-field.tsx";
import { PasswordCard } from "./password-card.tsx";
import { PreferenceFields } from "./preference-fields.tsx";

export const generateMetadata = titled("settings.title");

const FORM = "flex max-w-md flex-col gap-4";

export default async function SettingsPage() {
  const [t, user] = await Promise.all([getTranslations("settings"), profile()]);
  return (
    <>
      <PageHeader
        title={t("title")}
        action={<LinkButton href="/settings/security">{t("security")}</LinkButton>}
      />
      <div className="flex flex-col gap-6">
        <Card title={t("profile.title")}>
          <ActionForm action={formAction(updateProfile)} successText={t("profile.saved")} className={FORM}>
            <Field
              label={t("profile.name")}
              help={t("profile.nameHelp")}
              name="name"
              defaultValue={user.name}
              required
              maxLength={MAX_NAME_UNITS}
              autoComplete="name"
            />
            <div>
              <SubmitButton>{t("profile.save")}</SubmitButton>
            </div>
          </ActionForm>
        </Card>
        <Card title={t("preferences.title")}>
          <ActionForm
            action={formAction(updateProfile)}
            successText={t("preferences.saved")}
            className={FORM}
          >
            <PreferenceFields user={user} />
            <div>
              <SubmitButton>{t("preferences.save")}</SubmitButton>
            </div>
          </ActionForm>
        </Card>
        <Card title={t("language.title")}>
          <ActionForm action={formAction(setLocale)} successText={t("language.saved")} className={FORM}>
            <LanguageField user={user} />
            <div>
              <SubmitButton>{t("language.save")}</SubmitButton>
            </div>
          </ActionForm>
        </Card>
        <CalendarCard />
        <EmailCard email={user.email} />
        <PasswordCard email={user.email} />
        <DeleteAccount email={user.email} />
      </div>
    </>
  );
}
