"use server";

import { getTranslations } from "next-intl/server";
import type { Outcome } from "../../../../ui/outcome.ts";
import type { Told } from "../../../../ui/told.tsx";
import { outcomeOf } from "../../../gate/outcome.ts";
import { replayDelivery } from "./actions.ts";

export async function replay(_before: Outcome, form: FormData): Promise<Outcome<Told>> {
  return outcomeOf(form, async () => {
    const { outcome, reason } = await replayDelivery(form);
    const words = await getTranslations("adminWebhooks");
    switch (outcome) {
      case "applied":
        return { tone: "good", sentence: words("replay.applied") };
      case "ignored":
        return { tone: "good", sentence: words("replay.ignored") };
      case "failed":
        return { tone: "bad", sentence: words("replay.failed", { reason: reason ?? "" }) };
      default:
        return outcome satisfies never;
    }
  });
}
