import { getTranslations } from "next-intl/server";
import type { z } from "zod";
import type { EventEndpoint } from "../../../../../operations/event-endpoints/endpoint-view.ts";
import { ActionForm } from "../../../../../ui/action-form.tsx";
import { Card } from "../../../../../ui/card.tsx";
import { DescriptionItem, DescriptionList } from "../../../../../ui/description-list.tsx";
import { SubmitButton } from "../../../../../ui/submit-button.tsx";
import { Time } from "../../../../../ui/time.tsx";
import { formAction } from "../../../../gate/form-action.ts";
import { updateEventEndpoint } from "../actions.ts";
import { EndpointStatus } from "../endpoint-status.tsx";

/** Whether events are sent, with the button that pauses or resumes. */
export async function StateCard({ endpoint }: { endpoint: z.output<typeof EventEndpoint> }) {
  const t = await getTranslations("adminEventEndpoints");
  const { id, enabled, types, description, createdAt, failingSince, disabledAt } = endpoint;
  return (
    <Card title={t("details.title")} {...(disabledAt !== null && { description: t("details.disabled") })}>
      <div className="flex flex-col gap-4">
        <DescriptionList>
          <DescriptionItem label={t("columns.status")}>
            <EndpointStatus endpoint={endpoint} />
          </DescriptionItem>
          <DescriptionItem label={t("details.created")}>
            <Time at={createdAt} />
          </DescriptionItem>
          {failingSince && (
            <DescriptionItem label={t("details.failingSince")}>
              <Time at={failingSince} />
            </DescriptionItem>
          )}
          {disabledAt && (
            <DescriptionItem label={t("details.disabledAt")}>
              <Time at={disabledAt} />
            </DescriptionItem>
          )}
          {description && <DescriptionItem label={t("details.description")}>{description}</DescriptionItem>}
          <DescriptionItem label={t("fields.types")}>{types.join(", ")}</DescriptionItem>
        </DescriptionList>
        <ActionForm action={formAction(updateEventEndpoint)}>
          <input type="hidden" name="id" value={id} />
          <input type="hidden" name="enabled" value={String(!enabled)} />
          <SubmitButton variant={enabled ? "secondary" : "primary"}>
            {t(enabled ? "details.pause" : "details.resume")}
          </SubmitButton>
        </ActionForm>
      </div>
    </Card>
  );
}
