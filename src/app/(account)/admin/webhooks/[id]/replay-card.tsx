import { getTranslations } from "next-intl/server";
import type { DeliveryStatus } from "../../../../../domain/deliveries/delivery.ts";
import { ActionForm } from "../../../../../ui/action-form.tsx";
import { Card } from "../../../../../ui/card.tsx";
import { Checkbox } from "../../../../../ui/field.tsx";
import { StatusMessage } from "../../../../../ui/status-message.tsx";
import { SubmitButton } from "../../../../../ui/submit-button.tsx";
import { formAction } from "../../../../gate/form-action.ts";
import { replayDelivery } from "../actions.ts";

/** Replays the delivery and shows the result. */
export async function ReplayCard({ id, status }: { id: string; status: DeliveryStatus }) {
  const t = await getTranslations("adminWebhooks");
  return (
    <Card title={t("replay.title")} description={t(`replay.about.${status}`)}>
      <ActionForm action={formAction(replayDelivery)} className="flex flex-col gap-4">
        <input type="hidden" name="id" value={id} />
        {status === "successful" && (
          <Checkbox label={t("replay.force")} help={t("replay.forceHelp")} name="force" />
        )}
        <div>
          <SubmitButton variant={status === "failed" ? "primary" : "secondary"}>
            {t("replay.submit")}
          </SubmitButton>
        </div>
        <div className="-mt-4 [&:has([data-status-message])]:mt-0">
          <StatusMessage />
        </div>
      </ActionForm>
    </Card>
  );
}
