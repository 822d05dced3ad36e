import { getTranslations } from "next-intl/server";
import type { z } from "zod";
import type { EventEndpoint } from "../../../../../operations/event-endpoints/endpoint-view.ts";
import { ActionForm } from "../../../../../ui/action-form.tsx";
import { Card } from "../../../../../ui/card.tsx";
import { Field } from "../../../../../ui/field.tsx";
import { SubmitButton } from "../../../../../ui/submit-button.tsx";
import { formAction } from "../../../../gate/form-action.ts";
import { deleteEventEndpoint, updateEventEndpoint } from "../actions.ts";
import { EndpointFields } from "../endpoint-fields.tsx";
import { NewSecret } from "../new-secret.tsx";

type Props = { endpoint: z.output<typeof EventEndpoint> };

export async function EditCard({ endpoint }: Props) {
  const t = await getTranslations("adminEventEndpoints.edit");
  return (
    <Card title={t("title")}>
      <ActionForm
        action={formAction(updateEventEndpoint)}
        successText={t("saved")}
        className="flex flex-col gap-4"
      >
        <input type="hidden" name="id" value={endpoint.id} />
        <EndpointFields endpoint={endpoint} />
        <div>
          <SubmitButton>{t("submit")}</SubmitButton>
        </div>
      </ActionForm>
    </Card>
  );
}

export async function SecretCard({ endpoint }: Props) {
  const t = await getTranslations("adminEventEndpoints.secret");
  return (
    <Card title={t("title")} description={t("about")}>
      <ActionForm action={formAction(updateEventEndpoint)} className="flex flex-col gap-4">
        <input type="hidden" name="id" value={endpoint.id} />
        <input type="hidden" name="rotateSecret" value="on" />
        <div>
          <SubmitButton variant="secondary">{t("rotate")}</SubmitButton>
        </div>
        <NewSecret />
      </ActionForm>
    </Card>
  );
}

export async function DeleteCard({ endpoint: { id, url } }: Props) {
  const t = await getTranslations("adminEventEndpoints.delete");
  return (
    <Card title={t("title")} description={t("about")} tone="danger">
      <ActionForm action={formAction(deleteEventEndpoint)} className="flex max-w-md flex-col gap-4">
        <input type="hidden" name="id" value={id} />
        <input type="hidden" name="url" value={url} />
        <Field
          label={t("confirm", { url })}
          name="confirmation"
          required
          autoComplete="off"
          spellCheck={false}
        />
        <div>
          <SubmitButton variant="danger">{t("submit")}</SubmitButton>
        </div>
      </ActionForm>
    </Card>
  );
}
