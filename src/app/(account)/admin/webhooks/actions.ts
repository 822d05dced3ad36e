"use server";

import { revalidatePath } from "next/cache";
import { getTranslations } from "next-intl/server";
import { replayDelivery as replayDeliveryOperation } from "../../../../operations/webhooks/replay-delivery.ts";
import type { StatusMessageData } from "../../../../ui/status-message.tsx";
import { failureTexts } from "../../../gate/failure-text.ts";
import { formText } from "../../../gate/form-text.ts";
import { runAction } from "../../../gate/run-action.ts";

/** Fields: `id`, and `force` to replay a delivery that already succeeded. */
export async function replayDelivery(form: FormData): Promise<StatusMessageData> {
  const { outcome, error, reason } = await runAction(replayDeliveryOperation, form, () => ({
    id: formText(form, "id"),
    force: formText(form, "force") === "on",
  }));
  revalidatePath("/admin/webhooks", "layout");
  const t = await getTranslations("adminWebhooks.replay");
  switch (outcome) {
    case "applied":
      return { tone: "good", text: t("applied") };
    case "ignored":
      return { tone: "good", text: t("ignored") };
    case "failed":
      return { tone: "bad", text: t("failed", { reason: (await failureTexts())({ reason, error }) }) };
    default:
      return outcome satisfies never;
  }
}
