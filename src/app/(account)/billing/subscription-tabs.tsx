import { getFormatter, getTranslations } from "next-intl/server";
import { LinkTabs } from "../../../ui/link-tabs.tsx";
import { planName } from "./plans.ts";
import type { Subscription } from "./subscription-state.ts";

/** Whoever has had several chooses whose history to see. */
export async function SubscriptionTabs({
  all,
  shown,
}: {
  all: readonly Subscription[];
  shown: Subscription;
}) {
  const [t, format] = await Promise.all([getTranslations("billing.history"), getFormatter()]);
  const tabs = await Promise.all(
    all.map(async ({ id, planId, createdAt }) => ({
      href: id === all[0]?.id ? "/billing" : `/billing?subscription=${id}`,
      text: t("since", {
        plan: await planName(planId),
        date: format.dateTime(createdAt, { dateStyle: "medium" }),
      }),
      isCurrent: id === shown.id,
    })),
  );
  return <LinkTabs label={t("subscriptions")} tabs={tabs} className="mb-6" />;
}
