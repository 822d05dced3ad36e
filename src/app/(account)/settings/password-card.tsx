import { getTranslations } from "next-intl/server";
import { ActionForm } from "../../../ui/action-form.tsx";
import { Card } from "../../../ui/card.tsx";
import { Field } from "../../../ui/field.tsx";
import { SubmitButton } from "../../../ui/submit-button.tsx";
import { savePassword } from "./forms.ts";

export async function PasswordCard({ email }: { email: string }) {
  const [words, common] = await Promise.all([
    getTranslations("settings.password"),
    getTranslations("common"),
  ]);
  return (
    <Card title={words("title")}>
      <ActionForm
        action={savePassword}
        done={words("saved")}
        waitWords={common.raw("wait")}
        className="flex max-w-md flex-col gap-4"
      >
        {/* For password managers, which want to know whose it is. */}
        <input type="hidden" name="username" value={email} autoComplete="username" />
        <Field
          label={words("current")}
          name="currentPassword"
          type="password"
          required
          autoComplete="current-password"
        />
        <Field
          label={words("new")}
          help={words("newHelp")}
          name="newPassword"
          type="password"
          required
          minLength={8}
          maxLength={128}
          autoComplete="new-password"
        />
        <div>
          <SubmitButton>{words("save")}</SubmitButton>
        </div>
      </ActionForm>
    </Card>
  );
}
