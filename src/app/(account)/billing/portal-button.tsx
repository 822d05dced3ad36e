import { ExternalLink } from "lucide-react";
import { getTranslations } from "next-intl/server";
import { ActionForm } from "../../../ui/action-form.tsx";
import { SubmitButton } from "../../../ui/submit-button.tsx";
import { goToPortal } from "./forms.ts";

/** To the provider's page, where a subscription is changed, paid and ended. */
export async function PortalButton({
  subscriptionId,
  look = "plain",
}: {
  subscriptionId: string;
  look?: "main" | "plain";
}) {
  const [words, common] = await Promise.all([getTranslations("billing"), getTranslations("common")]);
  return (
    <ActionForm action={goToPortal} waitWords={common.raw("wait")} className="flex flex-col gap-2">
      <input type="hidden" name="subscriptionId" value={subscriptionId} />
      <div>
        <SubmitButton look={look}>
          {words("portal")}
          <ExternalLink aria-hidden="true" size={16} />
        </SubmitButton>
      </div>
    </ActionForm>
  );
}
