import { ExternalLink } from "lucide-react";
import { getTranslations } from "next-intl/server";
import { ActionForm } from "../../../ui/action-form.tsx";
import { SubmitButton } from "../../../ui/submit-button.tsx";
import { formAction } from "../../gate/form-action.ts";
import { openCustomerPortal } from "./actions.ts";

/** Opens the provider's customer portal. */
export async function PortalButton({
  subscriptionId,
  variant = "secondary",
}: {
  subscriptionId: string;
  variant?: "primary" | "secondary";
}) {
  const t = await getTranslations("billing");
  return (
    <ActionForm action={formAction(openCustomerPortal)} className="flex flex-col gap-2">
      <input type="hidden" name="subscriptionId" value={subscriptionId} />
      <div>
        <SubmitButton variant={variant}>
          {t("portal")}
          <ExternalLink aria-hidden="true" size={16} />
        </SubmitButton>
      </div>
    </ActionForm>
  );
}
