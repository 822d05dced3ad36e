import { getTranslations } from "next-intl/server";
import { ActionForm } from "../../../../../ui/action-form.tsx";
import { Card } from "../../../../../ui/card.tsx";
import { Select } from "../../../../../ui/field.tsx";
import { StatusMessage } from "../../../../../ui/status-message.tsx";
import { SubmitButton } from "../../../../../ui/submit-button.tsx";
import { formAction } from "../../../../gate/form-action.ts";
import { testEventEndpoint } from "../actions.ts";

/** Sends an example event and shows the result. */
export async function TestCard({ endpoint: { id, types } }: { endpoint: { id: string; types: string[] } }) {
  const t = await getTranslations("adminEventEndpoints.test");
  return (
    <Card title={t("title")} description={t("about")}>
      <ActionForm action={formAction(testEventEndpoint)} className="flex max-w-md flex-col gap-4">
        <input type="hidden" name="id" value={id} />
        <Select
          label={t("type")}
          name="type"
          {...(types[0] !== undefined && { defaultValue: types[0] })}
          options={types.map((type) => ({ value: type, label: type }))}
        />
        <div>
          <SubmitButton variant="secondary">{t("submit")}</SubmitButton>
        </div>
        <StatusMessage />
      </ActionForm>
    </Card>
  );
}
