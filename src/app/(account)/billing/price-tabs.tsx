import { getTranslations } from "next-intl/server";
import { LinkTabs } from "../../../ui/link-tabs.tsx";
import type { Plan } from "./plans.ts";
import type { PriceOption } from "./price-for.ts";

/** The intervals and currencies in which plans are sold, in the order of the plans. */
export function priceOptions(plans: readonly Plan[]): PriceOption[] {
  const options = new Map<string, PriceOption>();
  for (const { amount, interval, currency } of plans.flatMap(({ prices }) => prices))
    if (amount > 0) options.set(`${interval} ${currency}`, { interval, currency });
  return [...options.values()];
}

/** The address of the billing page with the prices for an interval and currency. */
export function addressWith({ interval, currency }: PriceOption, selectedPlan: string | null = null): string {
  const plan = selectedPlan === null ? {} : { plan: selectedPlan };
  return `/billing?${new URLSearchParams({ ...plan, interval, currency })}`;
}

/** Links to the same plans with another interval or currency. */
export async function PriceTabs({
  options,
  chosen,
  selectedPlan,
}: {
  options: readonly PriceOption[];
  chosen: PriceOption;
  selectedPlan: string | null;
}) {
  const t = await getTranslations("billing.intervals");
  const hasCurrencies = options.some(({ currency }) => currency !== options[0]?.currency);
  const tabs = options.map(({ interval, currency }) => ({
    href: addressWith({ interval, currency }, selectedPlan),
    text: hasCurrencies ? `${t(interval)} · ${currency}` : t(interval),
    isCurrent: interval === chosen.interval && currency === chosen.currency,
  }));
  return <LinkTabs label={t("title")} tabs={tabs} className="mb-4" />;
}
