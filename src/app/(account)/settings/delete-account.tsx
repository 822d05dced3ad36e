import { getTranslations } from "next-intl/server";
import { ActionForm } from "../../../ui/action-form.tsx";
import { Card } from "../../../ui/card.tsx";
import { Field } from "../../../ui/field.tsx";
import { SubmitButton } from "../../../ui/submit-button.tsx";
import { endAccount } from "./forms.ts";

export async function DeleteAccount({ email }: { email: string }) {
  const [words, common] = await Promise.all([getTranslations("settings.delete"), getTranslations("common")]);
  return (
    <Card title={words("title")} about={words("about")} tone="danger">
      <ActionForm action={endAccount} waitWords={common.raw("wait")} className="flex max-w-md flex-col gap-4">
        <Field
          label={words("confirmation")}
          help={words("confirmationHelp", { email })}
          name="confirmation"
          type="email"
          required
          maxLength={254}
          autoComplete="off"
        />
        <div>
          <SubmitButton look="danger">{words("submit")}</SubmitButton>
        </div>
      </ActionForm>
    </Card>
  );
}
