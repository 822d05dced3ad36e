"use server";

import { getTranslations } from "next-intl/server";
import type { Outcome } from "../../../../ui/outcome.ts";
import type { StatusMessageData } from "../../../../ui/status-message.tsx";
import { catchRefusals } from "../../../gate/outcome.ts";
import { replayDelivery } from "./actions.ts";

export async function submitReplay(_before: Outcome, form: FormData): Promise<Outcome<StatusMessageData>> {
  return catchRefusals(form, async () => {
    const { outcome, reason } = await replayDelivery(form);
    const t = await getTranslations("adminWebhooks");
    switch (outcome) {
      case "applied":
        return { tone: "good", sentence: t("replay.applied") };
      case "ignored":
        return { tone: "good", sentence: t("replay.ignored") };
      case "failed":
        return { tone: "bad", sentence: t("replay.failed", { reason: reason ?? "" }) };
      default:
        return outcome satisfies never;
    }
  });
}
