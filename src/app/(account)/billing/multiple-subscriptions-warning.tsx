import { TriangleAlert } from "lucide-react";
import { getTranslations } from "next-intl/server";

/** Warns that more than one subscription is going to be charged, which is rarely intended. */
export async function MultipleSubscriptionsWarning() {
  const t = await getTranslations("billing");
  return (
    <p className="flex items-start gap-2 rounded-box border border-warn bg-surface px-4 py-3">
      <TriangleAlert aria-hidden="true" size={18} className="mt-0.5 shrink-0 text-warn" />
      {t("several")}
    </p>
  );
}
