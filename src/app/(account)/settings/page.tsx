import type { Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { ActionForm } from "../../../ui/action-form.tsx";
import { Card } from "../../../ui/card.tsx";
import { Field } from "../../../ui/field.tsx";
import { PageHeader } from "../../../ui/page-header.tsx";
import { SubmitButton } from "../../../ui/submit-button.tsx";
import { profile } from "../../gate/read.ts";
import { saveProfile } from "./forms.ts";

export async function generateMetadata(): Promise<Metadata> {
  const words = await getTranslations("settings");
  return { title: words("title") };
}

export default async function SettingsPage() {
  const [words, common, user] = await Promise.all([
    getTranslations("settings"),
    getTranslations("common"),
    profile(),
  ]);
  return (
    <>
      <PageHeader title={words("title")} />
      <Card title={words("profile.title")}>
        <ActionForm
          action={saveProfile}
          done={words("profile.saved")}
          waitWords={common.raw("wait")}
          className="flex max-w-md flex-col gap-4"
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
          <div>
            <SubmitButton>{words("profile.save")}</SubmitButton>
          </div>
        </ActionForm>
      </Card>
    </>
  );
}
