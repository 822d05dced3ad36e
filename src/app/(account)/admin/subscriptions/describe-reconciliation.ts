import { getTranslations } from "next-intl/server";
import { showLastChange } from "../../../../operations/subscriptions/show-last-change.ts";
import type { StatusMessageData } from "../../../../ui/status-message.tsx";
import { read } from "../../../gate/read.ts";
import { describeChanges } from "../changes-table.tsx";

/** What the comparison with the provider has just recorded. */
export async function describeReconciliation({
  id,
  providerSubscriptionId,
}: {
  id: string;
  providerSubscriptionId: string | null;
}): Promise<StatusMessageData> {
  const [t, latest] = await Promise.all([
    getTranslations("adminSubscriptions.compared"),
    read(showLastChange, { id }),
  ]);
  const { outOfOrder: _, ...corrected } = latest.source === "reconcile" ? latest.changes : {};
  const changes = await describeChanges(corrected);
  return {
    tone: "good",
    text: t(changes.length > 0 ? "corrected" : "same", { subscription: providerSubscriptionId ?? id }),
    details: changes.map((change) => t("change", change)),
  };
}
