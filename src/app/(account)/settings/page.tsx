import type { Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { ActionForm } from "../../../ui/action-form.tsx";
import { Card } from "../../../ui/card.tsx";
import { Field } from "../../../ui/field.tsx";
import { PageHeader } from "../../../ui/page-header.tsx";
import { SubmitButton } from "../../../ui/submit-button.tsx";
import { profile } from "../../gate/read.ts";
import { DeleteAccount } from "./delete-account.tsx";
import { saveLanguage, saveProfile } from "./forms.ts";
import { LanguageField } from "./language-field.tsx";
import { PasswordCard } from "./password-card.tsx";
import { PreferenceFields } from "./preference-fields.tsx";

export async function generateMetadata(): Promise<Metadata> {
  const words = await getTranslations("settings");
  return { title: words("title") };
}

const FORM = "flex max-w-md flex-col gap-4";

export default async function SettingsPage() {
  const [words, common, user] = await Promise.all([
    getTranslations("settings"),
    getTranslations("common"),
    profile(),
  ]);
  const waitWords = common.raw("wait");
  return (
    <>
      <PageHeader title={words("title")} />
      <div className="flex flex-col gap-6">
        <Card title={words("profile.title")}>
          <ActionForm
            action={saveProfile}
            done={words("profile.saved")}
            waitWords={waitWords}
            className={FORM}
          >
            <Field
              label={words("profile.name")}
              help={words("profile.nameHelp")}
              name="name"
              defaultValue={user.name}
              required
              maxLength={100}
              autoComplete="name"
            />
            <dl>
              <dt className="font-medium">{words("profile.email")}</dt>
              <dd className="break-all text-muted">{user.email}</dd>
            </dl>
            <div>
              <SubmitButton>{words("profile.save")}</SubmitButton>
            </div>
          </ActionForm>
        </Card>
        <Card title={words("preferences.title")}>
          <ActionForm
            action={saveProfile}
            done={words("preferences.saved")}
            waitWords={waitWords}
            className={FORM}
          >
            <PreferenceFields user={user} />
            <div>
              <SubmitButton>{words("preferences.save")}</SubmitButton>
            </div>
          </ActionForm>
        </Card>
        <Card title={words("language.title")}>
          <ActionForm
            action={saveLanguage}
            done={words("language.saved")}
            waitWords={waitWords}
            className={FORM}
          >
            <LanguageField user={user} />
            <div>
              <SubmitButton>{words("language.save")}</SubmitButton>
            </div>
          </ActionForm>
        </Card>
        <PasswordCard email={user.email} />
        <DeleteAccount email={user.email} />
      </div>
    </>
  );
}
