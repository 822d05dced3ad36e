import { getTranslations } from "next-intl/server";
import type { DeliveryStatus } from "../../../../../domain/delivery.ts";
import { ActionForm } from "../../../../../ui/action-form.tsx";
import { Card } from "../../../../../ui/card.tsx";
import { Toggle } from "../../../../../ui/field.tsx";
import { SubmitButton } from "../../../../../ui/submit-button.tsx";
import { Telling } from "../../../../../ui/told.tsx";
import { replay } from "../forms.ts";

/** Processes it again, and says here what came of that. */
export async function ReplayCard({ id, status }: { id: string; status: DeliveryStatus }) {
  const [words, common] = await Promise.all([getTranslations("adminWebhooks"), getTranslations("common")]);
  return (
    <Card title={words("replay.title")} about={words(`replay.about.${status}`)}>
      <ActionForm action={replay} waitWords={common.raw("wait")} className="flex flex-col gap-4">
        <input type="hidden" name="id" value={id} />
        {status === "successful" && (
          <Toggle label={words("replay.force")} help={words("replay.forceHelp")} name="force" />
        )}
        <div>
          <SubmitButton look={status === "failed" ? "main" : "plain"}>{words("replay.submit")}</SubmitButton>
        </div>
        <div className="-mt-4 [&:has([data-told])]:mt-0">
          <Telling />
        </div>
      </ActionForm>
    </Card>
  );
}
