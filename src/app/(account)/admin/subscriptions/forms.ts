"use server";

import { getTranslations } from "next-intl/server";
import { showHistory } from "../../../../operations/subscriptions/show-history.ts";
import type { Outcome } from "../../../../ui/outcome.ts";
import type { StatusMessageData } from "../../../../ui/status-message.tsx";
import { catchRefusals } from "../../../gate/outcome.ts";
import { read } from "../../../gate/read.ts";
import { describeChanges } from "../changes-table.tsx";
import { reconcileSubscription } from "./actions.ts";

export async function submitReconcile(_before: Outcome, form: FormData): Promise<Outcome<StatusMessageData>> {
  return catchRefusals(form, async () => {
    return describeResult(await reconcileSubscription(form));
  });
}

type ReconciledSubscription = Awaited<ReturnType<typeof reconcileSubscription>>;

/** What the comparison has written down last. */
async function describeResult({
  id,
  providerSubscriptionId,
}: ReconciledSubscription): Promise<StatusMessageData> {
  const [t, { items }] = await Promise.all([
    getTranslations("adminSubscriptions"),
    read(showHistory, { id, limit: 1 }),
  ]);
  const [latest] = items;
  const { outOfOrder: _, ...corrected } = latest?.source === "reconcile" ? latest.changes : {};
  const changes = await describeChanges(corrected);
  return {
    tone: "good",
    sentence: t(changes.length > 0 ? "compared.corrected" : "compared.same", {
      subscription: providerSubscriptionId ?? id,
    }),
    details: changes.map((change) => t("compared.change", change)),
  };
}
