import { getFormatter, getTranslations } from "next-intl/server";
import { showEntitlements } from "../../../operations/entitlements/show-entitlements.ts";
import { Card } from "../../../ui/card.tsx";
import { read } from "../../gate/read.ts";
import { plans } from "./plans.ts";

/** What the person may use now, over all subscriptions, and what is left of each quota. */
export async function EntitlementsCard() {
  const [t, format, { features }, all] = await Promise.all([
    getTranslations("billing.entitlements"),
    getFormatter(),
    read(showEntitlements, {}),
    plans(),
  ]);
  const details = all.flatMap(({ featureDetails }) => featureDetails);
  const included = Object.entries(features).filter(([, { value }]) => value !== false && value !== 0);
  if (included.length === 0) return null;
  return (
    <Card title={t("title")}>
      <dl className="grid gap-x-8 gap-y-4 sm:grid-cols-2 lg:grid-cols-3">
        {included.map(([id, { kind, value, used = 0, remaining = 0 }]) => (
          <div key={id} className="min-w-0">
            <dt>{details.find((detail) => detail.id === id && detail.value === value)?.text ?? id}</dt>
            <dd className="text-muted text-sm tabular-nums">
              {kind === "quota"
                ? t("used", { used: format.number(used), remaining: format.number(remaining) })
                : t("included")}
            </dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}
